//! The parts of a score, and which of them go together.
//!
//! A score has one part on each axis: an event model, a dependence, an estimate, weights of words
//! and of documents, and a neighbourhood. Each event model declares its [`Traits`], and each other
//! part its [`Needs`]. A composition is valid if the needs of all its parts are met.
//!
//! Scores follow from the traits alone, in the event model and in all other parts. So a new event
//! model with other formulas needs a new document form or sum, and every part refuses those that it
//! does not name.

use crate::error::{Error, Result};

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
        /// The store's fitted weights multiply counts in the score alone.
        Fitted = "fitted",
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

named_enum! {
    /// The features of a document that an event model reads.
    "form" Form {
        /// The counts of its words: P(w|c) = (N_wc + α)/(N_c + α m).
        Counts = "counts",
        /// Which words it contains: P(w|c) = (n_wc + α)/(n_c + 2α).
        Presence = "presence",
        /// One value of each attribute: P(v|c) = (n_vc + α/v_i)/(n_c + α).
        Values = "values",
        /// Values, and numbers whose densities are computed outside the core.
        Numbers = "numbers",
    }
}

named_enum! {
    /// The words that a score adds up.
    "sum" Sum {
        /// The words of the message: additive, so that each word can be scored alone.
        Message = "message",
        /// All words of the vocabulary: an absent word counts too.
        Vocabulary = "vocabulary",
        /// The words of the message, divided by a sum over the vocabulary.
        Normalised = "normalised",
    }
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

/// Event models with equal traits would score alike, so each one must have its own.
const _: () = {
    let mut one = 1;
    while one < Event::ALL.len() {
        let mut other = 0;
        while other < one {
            let (a, b) = (Event::ALL[one].traits(), Event::ALL[other].traits());
            assert!(
                a.own != b.own
                    || a.complement != b.complement
                    || a.form as u8 != b.form as u8
                    || a.sum as u8 != b.sum as u8,
                "two event models have the same traits"
            );
            other += 1;
        }
        one += 1;
    }
};

/// An axis other than the event model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Dependence,
    Estimate,
    Weights,
    DocumentWeights,
    Neighbourhood,
}

/// The requirements of a part on the event model and on the other parts.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// The subject of an error message.
    subject: &'static str,
    pub forms: &'static [Form],
    pub sums: &'static [Sum],
    /// Whether the score must have the terms of the class and of all others.
    pub both_sides: bool,
    event_reason: &'static str,
    /// The axes that must have their plain part.
    pub plain: &'static [Axis],
    plain_reason: &'static str,
}

impl Needs {
    /// The needs of a plain part.
    const NOTHING: Needs = Needs {
        subject: "",
        forms: Form::ALL,
        sums: Sum::ALL,
        both_sides: false,
        event_reason: "",
        plain: &[],
        plain_reason: "",
    };

    /// An event model of word counts that is additive over the words of a message.
    const WORD_COUNTS: Needs = Needs {
        forms: &[Form::Counts],
        sums: &[Sum::Message],
        event_reason: "an event model that adds up word counts",
        ..Needs::NOTHING
    };

    fn are_met_by(&self, event: Event) -> bool {
        let Traits { own, complement, form, sum } = event.traits();
        self.forms.contains(&form)
            && self.sums.contains(&sum)
            && (!self.both_sides || (own && complement))
    }
}

impl Dependence {
    pub const fn needs(self) -> Needs {
        let parents = Needs {
            subject: "hidden parents need",
            plain: &[Axis::Estimate, Axis::DocumentWeights, Axis::Neighbourhood],
            plain_reason: "the documents that contain a parent are counted in the whole stream, \
                           without weights",
            ..Needs::WORD_COUNTS
        };
        match self {
            Dependence::Independent => Needs::NOTHING,
            Dependence::Hidden => parents,
            Dependence::HiddenRatios => Needs {
                both_sides: true,
                subject: "hidden parents of ratios need",
                event_reason: "an event model with both P(w|c) and P(w|c̄)",
                ..parents
            },
            Dependence::OneDependence => {
                Needs { subject: "one-dependence estimators need", ..parents }
            }
            Dependence::Packaged => Needs {
                forms: &[Form::Counts, Form::Values],
                subject: "packaged parents need",
                event_reason: "an event model that adds up word counts or binned values",
                ..parents
            },
        }
    }
}

impl Estimate {
    pub const fn needs(self) -> Needs {
        let whole = Needs {
            plain: &[Axis::Dependence, Axis::Weights, Axis::DocumentWeights, Axis::Neighbourhood],
            plain_reason: "it estimates from the counts of the whole stream, without weights",
            ..Needs::WORD_COUNTS
        };
        match self {
            Estimate::Additive => Needs::NOTHING,
            Estimate::Correlation => Needs { subject: "the correlation factor needs", ..whole },
            Estimate::Effective => Needs {
                forms: &[Form::Presence],
                sums: &[Sum::Vocabulary],
                subject: "the estimate by higher-order paths needs",
                event_reason: "an event model of word presence",
                ..whole
            },
        }
    }
}

impl Weights {
    pub const fn needs(self) -> Needs {
        let counts = Needs {
            subject: "word weights need",
            plain: &[Axis::Estimate, Axis::Neighbourhood],
            plain_reason: "weights are statistics of the counts of the whole stream",
            ..Needs::WORD_COUNTS
        };
        match self {
            Weights::Uniform => Needs::NOTHING,
            Weights::Multiplied | Weights::ChiSquare => counts,
            Weights::Fitted => Needs {
                subject: "fitted word weights need",
                plain: &[Axis::Estimate, Axis::DocumentWeights, Axis::Neighbourhood],
                plain_reason: "they are fitted to the counts of the whole stream, without weights",
                ..counts
            },
            Weights::Online => Needs {
                both_sides: true,
                subject: "online word weights need",
                event_reason: "an event model with both P(w|c) and P(w|c̄)",
                plain: &[
                    Axis::Dependence,
                    Axis::Estimate,
                    Axis::DocumentWeights,
                    Axis::Neighbourhood,
                ],
                plain_reason: "they correct the scores of independent words by unweighted counts",
                ..counts
            },
        }
    }
}

impl DocumentWeights {
    pub const fn needs(self) -> Needs {
        match self {
            DocumentWeights::Uniform => Needs::NOTHING,
            DocumentWeights::Instance => Needs {
                subject: "document weights need",
                plain: &[Axis::Dependence, Axis::Estimate, Axis::Neighbourhood],
                plain_reason: "they multiply the counts of independent words in the whole stream",
                ..Needs::WORD_COUNTS
            },
        }
    }
}

impl Neighbourhood {
    pub const fn needs(self) -> Needs {
        match self {
            Neighbourhood::Stream => Needs::NOTHING,
            Neighbourhood::Tree | Neighbourhood::Nearest => Needs {
                forms: &[Form::Counts, Form::Presence],
                sums: &[Sum::Message, Sum::Vocabulary],
                subject: "neighbourhoods need",
                event_reason: "an event model of texts without sums over all words of the stream",
                plain: &[Axis::Dependence, Axis::Estimate, Axis::Weights, Axis::DocumentWeights],
                plain_reason: "parents, paths, factors and weights are statistics of the whole \
                               stream",
                ..Needs::NOTHING
            },
        }
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
    /// The event model with plain parts.
    pub const fn plain(event: Event) -> Self {
        Composition {
            event,
            dependence: Dependence::Independent,
            estimate: Estimate::Additive,
            weights: Weights::Uniform,
            document_weights: DocumentWeights::Uniform,
            neighbourhood: Neighbourhood::Stream,
        }
    }

    /// Refuse parts whose needs are not met.
    pub fn check(self) -> Result<()> {
        let all = [
            self.dependence.needs(),
            self.estimate.needs(),
            self.weights.needs(),
            self.document_weights.needs(),
            self.neighbourhood.needs(),
        ];
        for needs in &all {
            if !needs.are_met_by(self.event) {
                let events = Event::ALL.iter().filter(|&&event| needs.are_met_by(event));
                return Err(Error::Invalid(format!(
                    "{} {}: event must be {}, not '{}'",
                    needs.subject,
                    needs.event_reason,
                    listed(events.map(|event| event.name())),
                    self.event.name(),
                )));
            }
        }
        for needs in &all {
            for &axis in needs.plain {
                let (name, part, plain) = self.on(axis);
                if part != plain {
                    return Err(Error::Invalid(format!(
                        "{} {name} '{plain}', not '{part}': {}",
                        needs.subject, needs.plain_reason,
                    )));
                }
            }
        }
        Ok(())
    }

    /// The name of an axis, of its part here, and of its plain part.
    fn on(self, axis: Axis) -> (&'static str, &'static str, &'static str) {
        match axis {
            Axis::Dependence => {
                ("dependence", self.dependence.name(), Dependence::Independent.name())
            }
            Axis::Estimate => ("estimate", self.estimate.name(), Estimate::Additive.name()),
            Axis::Weights => ("weights", self.weights.name(), Weights::Uniform.name()),
            Axis::DocumentWeights => {
                ("document_weights", self.document_weights.name(), DocumentWeights::Uniform.name())
            }
            Axis::Neighbourhood => {
                ("neighbourhood", self.neighbourhood.name(), Neighbourhood::Stream.name())
            }
        }
    }
}

impl Axis {
    pub fn name(self) -> &'static str {
        Composition::plain(Event::Multinomial).on(self).0
    }
}

/// Write names as `'a', 'b' or 'c'`.
pub(crate) fn listed(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
