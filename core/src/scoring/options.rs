//! From names to a way to score, with the refusals of parts that do not go together.

use crate::error::{Error, Result};
use crate::scoring::correlation::Correlation;
use crate::scoring::neighbourhood::Neighbourhood;
use crate::scoring::online_weights::OnlineScores;
use crate::scoring::parameters::{Event, Parameters, Prior, Unseen};
use crate::scoring::scorer::{Estimate, Family, ScoreWeights, Scoring};
use crate::scoring::terms::Factors;

/// A way to score by names, as a host gives them.
#[derive(Clone, Debug)]
pub struct Options {
    pub event: String,
    pub alpha: f64,
    pub prior: String,
    pub unseen: String,
    pub vocabulary_size: Option<f64>,
    /// What hidden parents mix, where words have any.
    pub hidden: Option<String>,
    /// How many words of a message may be parents; None is any number.
    pub max_parents: Option<usize>,
    /// Whether effective counts stand in the place of documents.
    pub effective: bool,
    /// The correlation factor, and those of classes, of their documents and of all others.
    pub factor: Option<f64>,
    pub factors: Vec<(f64, f64)>,
    /// What weights of words do.
    pub weights: Option<String>,
    /// How corrections of words are learned and scored, where they are what weights of words do.
    pub online: OnlineScores,
    /// Whether documents have weights.
    pub instance_weights: bool,
    pub neighbourhood: Option<String>,
    pub n_neighbors: usize,
}

impl Default for Options {
    /// Multinomial naive Bayes.
    fn default() -> Self {
        Options {
            event: "multinomial".into(),
            alpha: 1.0,
            prior: "empirical".into(),
            unseen: "smooth".into(),
            vocabulary_size: None,
            hidden: None,
            max_parents: None,
            effective: false,
            factor: None,
            factors: Vec::new(),
            weights: None,
            online: OnlineScores::default(),
            instance_weights: false,
            neighbourhood: None,
            n_neighbors: 1,
        }
    }
}

/// What weights of words do.
#[derive(Clone, Copy, PartialEq)]
enum WordWeights {
    /// They multiply counts, in the estimate and in the score.
    Multiplied,
    Fitted,
    ChiSquare,
    /// They are added to the log odds of words.
    Online,
}

fn invalid<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::Invalid(message.into()))
}

/// The value of a name among those allowed.
fn named<T: Copy>(what: &str, name: &str, values: &[(&str, T)], allowed: &str) -> Result<T> {
    match values.iter().find(|(known, _)| *known == name) {
        Some(&(_, value)) => Ok(value),
        None => invalid(format!("{what} must be {allowed}, not {name:?}")),
    }
}

impl Options {
    /// The scoring that the options name.
    ///
    /// Fails where a name or number is none, or where parts do not go together.
    pub fn scoring(&self) -> Result<Scoring> {
        let event = self.event()?;
        let family = self.family()?;
        self.check_family(event, family)?;
        let mut parameters = Parameters::new(
            event,
            self.alpha,
            self.prior()?,
            self.unseen()?,
            self.vocabulary_size,
        )?;
        parameters.max_parents = self.max_parents.unwrap_or(usize::MAX);
        let mut scoring = Scoring {
            estimate: Estimate::Additive,
            weights: ScoreWeights::Uniform,
            family: family.unwrap_or(Family::Independent),
            parameters,
        };
        if self.effective {
            if event != Event::Bernoulli {
                return invalid(
                    "higher-order paths count words that are present: combine them with the \
                     event 'bernoulli'",
                );
            }
            scoring.estimate = Estimate::Effective;
        }
        if let Some(factor) = self.factor {
            if family.is_some() {
                return invalid("the correlation factor needs the dependence 'independent'");
            }
            let of_class = |&(own, complement): &(f64, f64)| Factors { own, complement };
            let by_class = self.factors.iter().map(of_class).collect();
            let correlation = Correlation::new(factor, by_class)?;
            Correlation::check(&scoring.parameters)?;
            scoring.estimate = Estimate::Correlation(correlation);
        }
        self.weigh(&mut scoring)?;
        if let Some(neighbourhood) = self.neighbourhood()? {
            check_neighbourhood(&scoring)?;
            scoring.family = Family::Near(neighbourhood);
        }
        Ok(scoring)
    }

    fn event(&self) -> Result<Event> {
        let events = [
            ("bernoulli", Event::Bernoulli),
            ("multinomial", Event::Multinomial),
            ("complement", Event::Complement),
            ("normalised-complement", Event::NormalisedComplement),
            ("one-versus-all", Event::OneVersusAll),
            ("attributes", Event::Attributes),
            // Its numbers are not the core's.
            ("gaussian", Event::Categories),
        ];
        let allowed = "'bernoulli', 'multinomial', 'complement', \
                       'normalised-complement', 'one-versus-all', 'attributes' or 'gaussian'";
        named("event", &self.event, &events, allowed)
    }

    /// The family of hidden parents, where words have any.
    fn family(&self) -> Result<Option<Family>> {
        let families = [
            ("probabilities", Family::Hidden),
            ("ratios", Family::Ratios),
            ("packaged", Family::Packaged),
            ("estimators", Family::OneDependence),
        ];
        let allowed = "None, 'probabilities', 'ratios', 'packaged' or 'estimators'";
        self.hidden.as_ref().map(|name| named("hidden", name, &families, allowed)).transpose()
    }

    fn prior(&self) -> Result<Prior> {
        let priors = [
            ("empirical", Prior::Empirical),
            ("laplace", Prior::Laplace),
            ("uniform", Prior::Uniform),
            ("m-estimate", Prior::MEstimate),
        ];
        let allowed = "'empirical', 'laplace', 'uniform' or 'm-estimate'";
        named("prior", &self.prior, &priors, allowed)
    }

    fn unseen(&self) -> Result<Unseen> {
        let ways = [("smooth", Unseen::Smooth), ("skip", Unseen::Skip)];
        named("oov", &self.unseen, &ways, "'smooth' or 'skip'")
    }

    fn neighbourhood(&self) -> Result<Option<Neighbourhood>> {
        let kinds =
            [("leaf", Neighbourhood::Leaf), ("nearest", Neighbourhood::Nearest(self.n_neighbors))];
        let allowed = "None, 'leaf' or 'nearest'";
        let kind = |name: &String| named("neighbourhood", name, &kinds, allowed);
        self.neighbourhood.as_ref().map(kind).transpose()
    }

    /// Refuses an event that has not what a family of hidden parents mixes.
    fn check_family(&self, event: Event, family: Option<Family>) -> Result<()> {
        let Some(family) = family else { return Ok(()) };
        if family == Family::Ratios && event != Event::OneVersusAll {
            return invalid(format!(
                "hidden parents of ratios mix P(w|not c) / P(w|c), and of these two sides only \
                 the event 'one-versus-all' has both: combine them with it, not with {:?}",
                self.event
            ));
        }
        match event {
            Event::Bernoulli => {
                // Of an absent word there is no count to estimate from the messages with a parent.
                let what = match family {
                    Family::OneDependence => "one-dependence estimators",
                    _ => "hidden parents",
                };
                invalid(format!(
                    "{what} need word counts: combine them with the event 'multinomial', \
                     'complement' or 'one-versus-all', not 'bernoulli'"
                ))
            }
            Event::Categories => invalid(
                "hidden parents of columns need binned numbers: combine them with the event \
                 'attributes', not with 'gaussian'",
            ),
            Event::Attributes if family != Family::Packaged => invalid(
                "hidden parents of columns are those of the dependence 'packaged': combine the \
                 event 'attributes' with it alone",
            ),
            _ => Ok(()),
        }
    }

    /// Gives the scoring its weights of words and documents.
    fn weigh(&self, scoring: &mut Scoring) -> Result<()> {
        let kinds = [
            ("multiplied", WordWeights::Multiplied),
            ("fitted", WordWeights::Fitted),
            ("chi-square", WordWeights::ChiSquare),
            ("online", WordWeights::Online),
        ];
        let allowed = "None, 'multiplied', 'fitted', 'chi-square' or 'online'";
        let kind = |name: &String| named("weights", name, &kinds, allowed);
        let words = self.weights.as_ref().map(kind).transpose()?;
        let independent = scoring.family == Family::Independent;
        if self.instance_weights && !independent {
            return invalid(
                "weights of documents need the dependence 'independent': the messages that \
                 contain a parent are counted without any",
            );
        }
        if words.is_none() && !self.instance_weights {
            return Ok(());
        }
        check_weights(scoring)?;
        scoring.weights = match words {
            Some(WordWeights::ChiSquare) => ScoreWeights::ChiSquare,
            Some(WordWeights::Fitted) => ScoreWeights::Fitted,
            Some(WordWeights::Online) => {
                if scoring.parameters.event != Event::OneVersusAll || !independent {
                    return invalid(
                        "online weights correct the log odds of a class against all others: \
                         combine them with the event 'one-versus-all' and the dependence \
                         'independent'",
                    );
                }
                if self.instance_weights {
                    return invalid(
                        "online weights need document_weights 'uniform': their steps are by the \
                         counts as they are",
                    );
                }
                ScoreWeights::Online(self.online.checked()?)
            }
            Some(WordWeights::Multiplied) if !independent => ScoreWeights::Words,
            Some(WordWeights::Multiplied) | None => ScoreWeights::Uniform,
        };
        if independent && (self.instance_weights || words == Some(WordWeights::Multiplied)) {
            scoring.estimate = Estimate::Weighted;
        }
        Ok(())
    }
}

/// Refuses weights where words have no counts.
fn check_weights(scoring: &Scoring) -> Result<()> {
    let event = scoring.parameters.event;
    if matches!(event, Event::Bernoulli | Event::Attributes | Event::Categories) {
        return invalid(
            "weights are of word counts: combine them with the event 'multinomial', \
             'complement' or 'one-versus-all'; 'bernoulli' sums over absent words by their \
             document frequencies alone, and columns count no words",
        );
    }
    if matches!(scoring.estimate, Estimate::Correlation(_)) {
        return invalid(
            "weights need the estimate 'additive': the correlation factor mixes counts that \
             have none",
        );
    }
    Ok(())
}

/// Refuses what has no meaning on a part of the documents.
fn check_neighbourhood(scoring: &Scoring) -> Result<()> {
    if scoring.family != Family::Independent {
        return invalid(
            "neighbourhoods need the dependence 'independent': the messages that contain a \
             parent are counted in the whole stream",
        );
    }
    if matches!(scoring.parameters.event, Event::Attributes | Event::Categories) {
        return invalid(
            "neighbourhoods are of texts: combine them with the event 'multinomial', \
             'complement', 'one-versus-all' or 'bernoulli', not columns",
        );
    }
    if matches!(scoring.estimate, Estimate::Effective | Estimate::Correlation(_)) {
        return invalid(
            "neighbourhoods need the estimate 'additive': paths and correlation factors are of \
             the whole stream",
        );
    }
    if matches!(scoring.estimate, Estimate::Weighted) || scoring.weights != ScoreWeights::Uniform {
        return invalid(
            "neighbourhoods need weights and document_weights 'uniform': weights are statistics \
             of the whole stream",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
