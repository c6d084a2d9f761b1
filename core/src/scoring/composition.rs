//! The parts of a score, and which of them go together.
//!
//! A score has one part on each axis: an event model, a dependence, an estimate, weights of words
//! and of documents, and a neighbourhood. Each event model declares its [`Traits`], and each other
//! part its [`Needs`]. A composition is valid if the needs of all its parts are met.
//!
//! Scores follow from the traits alone, in the event model and in all other parts. So a new event
//! model with other formulas needs a new document form or sum, and every part refuses those that it
//! does not name.

use crate::error::{Error, Result, listed};

named_enum! {
    /// How a class gives a word its probability.
    "event" Event {
        /// A word is present or absent: McCallum and Nigam's multi-variate Bernoulli model.
        Bernoulli = "bernoulli",
        /// A word is drawn as often as it occurs: Equations 1 and 6.
        Multinomial = "multinomial",
        /// The class whose complement fits worst: Equations 2 and 7.
        Complement = "complement",
        /// The complement, the word weights of each class divided by their sum.
        NormalisedComplement = "normalised-complement",
        /// Multinomial minus complement: Equation 3, as the difference of the logarithms.
        OneVersusAll = "one-versus-all",
        /// A word is the value of an attribute: (n_ic + α/v_i) / (n_c + α), v_i values.
        Attributes = "attributes",
        /// A word is the value of an attribute: (n_ic + α) / (n_c + α v_i), v_i values. The
        /// densities of numbers are computed outside the core.
        Gaussian = "gaussian",
    }
}

named_enum! {
    /// How the words of a message depend on one another.
    "dependence" Dependence {
        Independent = "independent",
        /// Hidden parents that mix probabilities.
        Hidden = "hidden",
        /// Hidden parents that mix ratios.
        HiddenRatios = "hidden-ratios",
        /// Averaged one-dependence estimators.
        OneDependence = "one-dependence",
        /// Hidden parents of attribute packages.
        Packaged = "packaged",
    }
}

named_enum! {
    /// The counts that probabilities are estimated from.
    "estimate" Estimate {
        /// The counts, with the smoothing added.
        Additive = "additive",
        /// The counts, mixed by factors instead of the smoothing.
        Correlation = "correlation",
        /// The store's effective counts instead of documents.
        Effective = "effective",
    }
}

named_enum! {
    /// The weights of words.
    "weights" Weights {
        Uniform = "uniform",
        /// Weights multiply counts: in the estimate and the score of independent words, else in the
        /// score alone, since the documents that contain a parent are counted without weights.
        Multiplied = "multiplied",
        /// Weights multiply counts in the score alone; they and the prior have a common factor.
        Exponents = "exponents",
        /// P(w|c) is multiplied by the ratio R_wc of the word and the class.
        ChiSquare = "chi-square",
        /// The store's corrections are added to the log odds of words.
        Online = "online",
    }
}

named_enum! {
    /// The weights of documents.
    "document_weights" DocumentWeights {
        Uniform = "uniform",
        /// The store's instance weights multiply the counts of documents.
        Instance = "instance",
    }
}

named_enum! {
    /// The documents that count for a message.
    "neighbourhood" Neighbourhood {
        /// All of them.
        Stream = "stream",
        /// Those in its leaf of the store's tree.
        Tree = "tree",
        /// The nearest ones.
        Nearest = "nearest",
    }
}

/// The features of a document that an event model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The counts of its words: P(w|c) = (N_wc + α)/(N_c + α m).
    Counts,
    /// Which words it contains: P(w|c) = (n_wc + α)/(n_c + 2α).
    Presence,
    /// One value of each attribute: P(v|c) = (n_vc + α/v_i)/(n_c + α).
    Values,
    /// Values, and numbers whose densities are computed outside the core.
    Numbers,
}

/// The words that a score adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// The words of the message: additive, so that each word can be scored alone.
    Message,
    /// All words of the vocabulary: an absent word counts too.
    Vocabulary,
    /// The words of the message, divided by a sum over the vocabulary.
    Normalised,
}

/// The properties of an event model that other parts depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Whether the score has the terms of the class: + ln P(c) + Σ_i f_i ln P(w_i|c).
    pub own: bool,
    /// Whether it has the terms of all other classes: − ln P(c̄) − Σ_i f_i ln P(w_i|c̄).
    pub complement: bool,
    pub form: Form,
    pub sum: Sum,
}

impl Event {
    /// The traits of the event model. A new event model must declare its own.
    pub const fn traits(self) -> Traits {
        let (own, complement, form, sum) = match self {
            Event::Bernoulli => (true, false, Form::Presence, Sum::Vocabulary),
            Event::Multinomial => (true, false, Form::Counts, Sum::Message),
            Event::Complement => (false, true, Form::Counts, Sum::Message),
            Event::NormalisedComplement => (false, true, Form::Counts, Sum::Normalised),
            Event::OneVersusAll => (true, true, Form::Counts, Sum::Message),
            Event::Attributes => (true, false, Form::Values, Sum::Message),
            Event::Gaussian => (true, false, Form::Numbers, Sum::Message),
        };
        Traits { own, complement, form, sum }
    }
}

named_enum! {
    /// An axis other than the event model.
    "axis" Axis {
        Dependence = "dependence",
        Estimate = "estimate",
        Weights = "weights",
        DocumentWeights = "document_weights",
        Neighbourhood = "neighbourhood",
    }
}

/// The requirements of a part on the event model and on the other parts.
#[derive(Clone, Copy)]
struct Needs {
    /// The subject of an error message.
    subject: &'static str,
    /// Whether an event model with these traits is valid, and which are.
    event: fn(Traits) -> bool,
    event_reason: &'static str,
    /// The axes that must have their plain part.
    plain: &'static [Axis],
    plain_reason: &'static str,
}

/// An event model of word counts that is additive over the words of a message.
fn adds_counts(traits: Traits) -> bool {
    traits.form == Form::Counts && traits.sum == Sum::Message
}

impl Needs {
    /// An event model that [adds up word counts](adds_counts), and plain parts on some axes.
    fn counts(subject: &'static str, plain: &'static [Axis], plain_reason: &'static str) -> Needs {
        let event_reason = "an event model that adds up word counts";
        Needs { subject, event: adds_counts, event_reason, plain, plain_reason }
    }

    /// These needs, and the terms of the class and of all others.
    fn of_both_sides(self) -> Needs {
        let event_reason = "an event model with both P(w|c) and P(w|c̄)";
        let event = |traits: Traits| adds_counts(traits) && traits.own && traits.complement;
        Needs { event, event_reason, ..self }
    }
}

impl Dependence {
    fn needs(self) -> Option<Needs> {
        let parents = |subject| {
            Needs::counts(
                subject,
                &[Axis::Estimate, Axis::DocumentWeights, Axis::Neighbourhood],
                "the documents that contain a parent are counted in the whole stream, without \
                 weights",
            )
        };
        Some(match self {
            Dependence::Independent => return None,
            Dependence::Hidden => parents("hidden parents need"),
            Dependence::HiddenRatios => parents("hidden parents of ratios need").of_both_sides(),
            Dependence::OneDependence => parents("one-dependence estimators need"),
            Dependence::Packaged => Needs {
                event: |traits| {
                    matches!(traits.form, Form::Counts | Form::Values) && traits.sum == Sum::Message
                },
                event_reason: "an event model that adds up word counts or binned values",
                ..parents("packaged parents need")
            },
        })
    }
}

impl Estimate {
    fn needs(self) -> Option<Needs> {
        let whole = |subject| {
            Needs::counts(
                subject,
                &[Axis::Dependence, Axis::Weights, Axis::DocumentWeights, Axis::Neighbourhood],
                "it estimates from the counts of the whole stream, without weights",
            )
        };
        Some(match self {
            Estimate::Additive => return None,
            Estimate::Correlation => whole("the correlation factor needs"),
            Estimate::Effective => Needs {
                event: |traits| traits.form == Form::Presence && traits.sum == Sum::Vocabulary,
                event_reason: "an event model of word presence",
                ..whole("the estimate by higher-order paths needs")
            },
        })
    }
}

impl Weights {
    fn needs(self) -> Option<Needs> {
        Some(match self {
            Weights::Uniform => return None,
            Weights::Multiplied | Weights::ChiSquare => Needs::counts(
                "word weights need",
                &[Axis::Estimate, Axis::Neighbourhood],
                "weights are statistics of the counts of the whole stream",
            ),
            Weights::Exponents => Needs::counts(
                "weights of the score alone need",
                &[Axis::Estimate, Axis::DocumentWeights, Axis::Neighbourhood],
                "they are fitted to the counts of the whole stream, without weights",
            ),
            Weights::Online => Needs::counts(
                "online word weights need",
                &[Axis::Dependence, Axis::Estimate, Axis::DocumentWeights, Axis::Neighbourhood],
                "they correct the scores of independent words by unweighted counts",
            )
            .of_both_sides(),
        })
    }
}

impl DocumentWeights {
    fn needs(self) -> Option<Needs> {
        Some(match self {
            DocumentWeights::Uniform => return None,
            DocumentWeights::Instance => Needs::counts(
                "document weights need",
                &[Axis::Dependence, Axis::Estimate, Axis::Neighbourhood],
                "they multiply the counts of independent words in the whole stream",
            ),
        })
    }
}

impl Neighbourhood {
    fn needs(self) -> Option<Needs> {
        Some(match self {
            Neighbourhood::Stream => return None,
            Neighbourhood::Tree | Neighbourhood::Nearest => Needs {
                event: |traits| {
                    matches!(traits.form, Form::Counts | Form::Presence)
                        && matches!(traits.sum, Sum::Message | Sum::Vocabulary)
                },
                event_reason: "an event model of texts without sums over all words of the stream",
                ..Needs::counts(
                    "neighbourhoods need",
                    &[Axis::Dependence, Axis::Estimate, Axis::Weights, Axis::DocumentWeights],
                    "parents, paths, factors and weights are statistics of the whole stream",
                )
            },
        })
    }
}

/// One part of each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composition {
    pub event: Event,
    pub dependence: Dependence,
    pub estimate: Estimate,
    pub weights: Weights,
    pub document_weights: DocumentWeights,
    pub neighbourhood: Neighbourhood,
}

impl Composition {
    /// The part on an axis, the plain part there, and the needs of the part.
    fn on(self, axis: Axis) -> (&'static str, &'static str, Option<Needs>) {
        macro_rules! part {
            ($part:expr, $plain:path) => {
                ($part.name(), $plain.name(), $part.needs())
            };
        }
        match axis {
            Axis::Dependence => part!(self.dependence, Dependence::Independent),
            Axis::Estimate => part!(self.estimate, Estimate::Additive),
            Axis::Weights => part!(self.weights, Weights::Uniform),
            Axis::DocumentWeights => part!(self.document_weights, DocumentWeights::Uniform),
            Axis::Neighbourhood => part!(self.neighbourhood, Neighbourhood::Stream),
        }
    }

    /// Refuse parts whose needs are not met.
    pub fn check(self) -> Result<()> {
        let all = Axis::ALL.iter().filter_map(|&axis| self.on(axis).2);
        if let Some(needs) = all.clone().find(|needs| !(needs.event)(self.event.traits())) {
            let events = Event::ALL.iter().filter(|event| (needs.event)(event.traits()));
            return Err(Error::Invalid(format!(
                "{} {}: event must be {}, not '{}'",
                needs.subject,
                needs.event_reason,
                listed(events.map(|event| event.name())),
                self.event.name(),
            )));
        }
        for Needs { subject, plain, plain_reason, .. } in all {
            for &axis in plain {
                let ((part, plain, _), name) = (self.on(axis), axis.name());
                if part != plain {
                    return Err(Error::Invalid(format!(
                        "{subject} {name} '{plain}', not '{part}': {plain_reason}"
                    )));
                }
            }
        }
        Ok(())
    }
}
