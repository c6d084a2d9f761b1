//! Naive Bayes corrected online: the log odds of words plus weights learned by one step a message.
//!
//! Let v_i be the value of word i in a message (1 if presence is counted), Σ v_i include unknown
//! words, f_i be the number of learned messages with the word, and ‖x‖ be the Euclidean norm:
//!
//!   s_k  = b_k + c Σ_i v_i l_ik / Σ_i x_i + correction_k
//!   l_ik = ln P(w_i|k) / P(w_i|k̄),   x_i = v_i (1 + f_i)^−d
//!
//! With corrections r_ik that start at 0, and z_ik = c v_i l_ik / Σ x_i, the correction is
//!
//!   additive         Σ_i r_ik x_i / ‖x‖
//!   multiplicative   Σ_i r_ik z_ik,   for weights w_ik = 1 + r_ik ≥ 0
//!
//! If labels are estimated to be wrong, l_ik uses the expected counts without wrong labels.
//!
//! The second is Equations 3, 8 and 21 of Kim and Lee, with a weight for each class. It does not
//! change words without log odds. Two classes mirror each other, so both have the same weights.

use crate::counts::{Bag, ClassId, Store, WordId};
use crate::online::config::{Effect, OnlineConfig, OnlineScratch};
use crate::online::heads::Head;
use crate::online::noise::LabelNoise;
use crate::online::state::OnlineWeights;
use crate::scoring::event_model::{ClassTerms, Query, best};
use crate::scoring::events::TOGETHER;
use crate::scoring::scorer::Scorer;
use crate::statistics::exact::ExactSum;
use crate::watch::Watch;

/// Replace `values` by x_i of each known word; return Σ x_i and 1 / ‖x‖, unknown words included.
/// The bag contains each word once and may have the first x_i.
pub(crate) fn put_values(
    store: &Store,
    weights: Option<&OnlineWeights>,
    bag: &Bag,
    values: &mut Vec<(WordId, f64)>,
) -> (f64, f64) {
    values.clear();
    values.extend_from_slice(&bag.words);
    if let Some(weights) = weights {
        let first = bag.values.len().min(values.len());
        let (known, others) = values.split_at_mut(first);
        known.iter_mut().zip(&bag.values).for_each(|((_, value), &known)| *value = known);
        for (word, value) in others {
            *value = weights.value(store, *word, *value);
        }
    }
    let known = values.iter().map(|&(_, value)| value);
    let all = known.chain(bag.unseen.iter().map(|unseen| unseen.count));
    let (sum, squares) = all.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (sum, inverse_norm(squares))
}

/// 1 / ‖x‖; 0 if the message is empty or its squares underflow or overflow.
pub(crate) fn inverse_norm(squares: f64) -> f64 {
    let inverse = 1.0 / squares.sqrt();
    if inverse.is_finite() { inverse } else { 0.0 }
}

impl OnlineConfig {
    /// Replace scores by those whose softmax is the probability of each class.
    ///
    /// If labels of two classes are corrected, and the scores predict them worse than the shares of
    /// the classes do, the probabilities are these shares.
    /// Two classes have ± half the calibrated log odds σ⁻¹(P). With more classes only the highest
    /// score is calibrated: the others keep their shares of the rest, and their order.
    pub fn probable(&self, store: &Store, scores: &mut [f64]) {
        let weights = store.statistic::<OnlineWeights>().filter(|_| self.calibrated);
        let order = store.class_order();
        match order[..] {
            [] | [_] => {}
            [_, _] if weights.is_some_and(|weights| weights.noise.is_worse_than_shares()) => {
                for class in order {
                    scores[class as usize] = store.classes[class as usize].documents.ln();
                }
            }
            [other, one] => {
                let score = (scores[one as usize] - scores[other as usize]) / 2.0;
                let odds = weights.map_or(score, |weights| weights.two(one).log_odds(score));
                scores[one as usize] = odds / 2.0;
                scores[other as usize] = -odds / 2.0;
            }
            _ => {
                let Some(weights) = weights else { return };
                let Some((top, odds)) = top(store, scores) else { return };
                let score = scores[top as usize];
                // Change ln P/(1 − P) from the uncalibrated to the calibrated value.
                let raised = score + weights.top.log_odds(odds) - odds;
                let others = order.iter().filter(|&&class| class != top);
                let second = others.map(|&class| scores[class as usize]);
                let second = second.fold(f64::NEG_INFINITY, f64::max);
                scores[top as usize] =
                    if score > second { raised.max(second.next_up()) } else { raised.max(second) };
            }
        }
    }
}

/// The class with the highest score, and the log odds of its share of the softmax.
pub(crate) fn top(store: &Store, scores: &[f64]) -> Option<(ClassId, f64)> {
    let top = best(store, scores)?;
    let others = || {
        let classes = scores.iter().zip(&store.classes).enumerate();
        classes.filter(|&(id, (_, class))| class.exists() && id != top as usize)
    };
    let second = others().map(|(_, (&score, _))| score).fold(f64::NEG_INFINITY, f64::max);
    // Classes have other ids in a restored model.
    let rest: ExactSum = others().map(|(_, (&score, _))| (score - second).exp()).collect();
    Some((top, scores[top as usize] - second - rest.value().ln()))
}

impl Scorer {
    /// Compute the corrected scores of a message.
    pub fn online_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        scratch: &mut OnlineScratch,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(terms.len(), 0.0);
        let OnlineScratch { values, corrections, heads, bag: seen, head_values, odds } = scratch;
        values.clear();
        heads.clear();
        if store.existing_classes() < 2 {
            return;
        }
        let OnlineConfig { effect, heads: configured, .. } = self.config.online;
        let weights = store.statistic::<OnlineWeights>();
        let first = weights.map(|weights| &weights.first);
        let first = ScoredHead { effect, head: first, place: 0 };
        let others = configured.others();
        if others.is_empty() {
            return self.head_scores(store, terms, bag, &[first], (values, odds, corrections), out);
        }
        heads.resize((1 + others.len()) * terms.len(), 0.0);
        let scored = |only_words| {
            let others = others.iter().enumerate();
            others.filter(move |(_, head)| head.only_words == only_words).map(|(other, _)| {
                let head = weights.and_then(|weights| weights.others.get(other));
                ScoredHead { effect: Effect::Multiplicative, head, place: other + 1 }
            })
        };
        let of_all: Vec<_> = std::iter::once(first).chain(scored(false)).collect();
        let buffers = (values, &mut *odds, &mut *corrections);
        self.head_scores(store, terms, bag, &of_all, buffers, heads);
        seen.clear(0);
        let words = bag.words.iter().copied();
        seen.words.extend(words.filter(|&(word, _)| store.vocabulary.is_word(word)));
        seen.unseen.extend(bag.unseen.iter().filter(|unseen| unseen.is_word));
        seen.distinct = bag.distinct;
        let of_words: Vec<_> = scored(true).collect();
        let buffers = (head_values, odds, corrections);
        self.head_scores(store, terms, seen, &of_words, buffers, heads);
        let starts = std::iter::once(configured.start()).chain(others.iter().map(|o| o.start));
        for (place, (scores, start)) in heads.chunks(terms.len()).zip(starts).enumerate() {
            let share = weights.and_then(|w| w.heads().nth(place)).map_or(start, Head::share);
            out.iter_mut().zip(scores).for_each(|(sum, score)| *sum += share * score);
        }
    }

    /// Compute the scores of heads that see the words of this bag, and x_i of these words.
    fn head_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        heads: &[ScoredHead<'_>],
        buffers: (&mut Vec<f64>, &mut Vec<f64>, &mut Vec<f64>),
        out: &mut [f64],
    ) {
        if heads.iter().any(|scored| scored.effect == Effect::Multiplicative) {
            self.head_scores_of::<true>(store, terms, bag, heads, buffers, out);
        } else {
            self.head_scores_of::<false>(store, terms, bag, heads, buffers, out);
        }
    }

    /// [`head_scores`](Self::head_scores), where `LOGS` is whether any head has multiplicative corrections.
    fn head_scores_of<const LOGS: bool>(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        heads: &[ScoredHead<'_>],
        (values, odds, corrections): (&mut Vec<f64>, &mut Vec<f64>, &mut Vec<f64>),
        out: &mut [f64],
    ) {
        let classes = terms.len();
        values.clear();
        odds.clear();
        odds.resize(classes, 0.0);
        let nb_weight = self.config.online.nb_weight;
        corrections.clear();
        corrections.resize(heads.len() * classes, 0.0);
        let damping = store.statistic::<OnlineWeights>().map(|weights| &weights.damping);
        let unit = store.unit();
        let ahead = |words: &[(WordId, f64)]| {
            let rows = &store.rows;
            let heads = || heads.iter().filter_map(|scored| scored.head);
            for &(word, _) in words {
                rows.fetch(word);
                heads().for_each(|head| head.words.fetch(word));
            }
            // Two classes read all cells of these words next.
            if classes > 2 {
                for &(word, _) in words {
                    rows.fetch_more(word);
                    heads().for_each(|head| head.words.fetch_more(word));
                }
            }
        };
        let (mut sum, mut squares) = (0.0, 0.0);
        let visit = |words: &[(WordId, f64)], documents: &[f64], logs: &[[f64; 2]]| {
            let start = values.len();
            values.extend(words.iter().zip(documents).map(|(&(_, value), documents)| {
                damping.map_or(value, |damping| damping.damped(value, documents / unit))
            }));
            let values = &values[start..];
            (sum, squares) = values.iter().fold((sum, squares), |s, x| (s.0 + x, s.1 + x * x));
            let mut odds = [[0.0; 2]; TOGETHER];
            if let ([one, other], true) = (terms, LOGS) {
                let of = |terms: &ClassTerms, own: f64, others: f64| {
                    (own - terms.tokens) - (others - terms.tokens_complement)
                };
                for (odds, &[own, others]) in odds.iter_mut().zip(logs) {
                    *odds = [of(one, own, others), of(other, others, own)];
                }
            }
            for (scored, sums) in heads.iter().zip(corrections.chunks_mut(classes)) {
                let Some(head) = scored.head else { continue };
                match (scored.effect, sums) {
                    (Effect::Additive, sums) => head.words.add_to(sums, words, values),
                    (Effect::Multiplicative, [one, other])
                        if logs.len() == words.len() && head.words.are_equal() =>
                    {
                        let mut sums = [*one, *other];
                        head.words.add_equal(&mut sums, words, &odds);
                        [*one, *other] = sums;
                    }
                    (Effect::Multiplicative, sums) => words.iter().for_each(|&word| {
                        self.add_multiples(store, terms, head, word, sums);
                    }),
                }
            }
        };
        let query = Query { store, terms, bag, watch: &Watch::default() };
        self.add_odds::<LOGS>(query, odds, ahead, visit);
        if store.settings.term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        for unseen in &bag.unseen {
            sum += unseen.count;
            squares += unseen.count * unseen.count;
        }
        for (scored, corrections) in heads.iter().zip(corrections.chunks(classes)) {
            let ScoredHead { effect, head, place } = *scored;
            let scale = match effect {
                Effect::Additive => inverse_norm(squares),
                Effect::Multiplicative if sum > 0.0 => nb_weight / sum,
                Effect::Multiplicative => 0.0,
            };
            let of_classes = odds.iter().zip(terms).zip(corrections).enumerate();
            let scores = &mut out[place * classes..(place + 1) * classes];
            for ((class, ((odds, terms), correction)), score) in of_classes.zip(scores) {
                let prior = terms.prior - terms.prior_complement;
                let bias = head.map_or(0.0, |head| head.of_class(class as ClassId));
                let odds = if sum > 0.0 { nb_weight * ((odds - prior) / sum) } else { 0.0 };
                *score = odds + (bias + prior) + correction * scale;
            }
        }
    }
}

/// A head whose scores are computed.
#[derive(Clone, Copy)]
struct ScoredHead<'a> {
    effect: Effect,
    head: Option<&'a Head>,
    /// Its place among all heads.
    place: usize,
}

impl Scorer {
    /// Add Σ r_ik v_i l_ik of a word, by class. Not inlined, so that additive corrections are.
    #[inline(never)]
    fn add_multiples(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        head: &Head,
        (word, value): (WordId, f64),
        sums: &mut [f64],
    ) {
        let odds = self.log_odds(store, terms, word);
        for (class, weight) in head.of_word(word) {
            sums[class as usize] += weight * value * odds(class);
        }
    }

    /// The estimated shares of wrong labels, if scores are corrected for them.
    fn noise<'a>(&self, store: &'a Store) -> Option<&'a LabelNoise> {
        let weights =
            store.statistic::<OnlineWeights>().filter(|_| self.config.online.estimate_noise)?;
        Some(&weights.noise).filter(|noise| !noise.rates.is_empty())
    }

    /// Correct the terms of the classes if `known` words were counted.
    pub(crate) fn prepare_online(&self, store: &Store, known: usize, terms: &mut [ClassTerms]) {
        if let Some(noise) = self.noise(store) {
            self.model.correct_terms(store, noise, known, terms);
        }
    }

    /// Add Σ v_i l_ik of a bag to `out`, as [`EventModel::add_both`].
    #[inline]
    pub(crate) fn add_odds<const LOGS: bool>(
        &self,
        query: Query<'_>,
        out: &mut [f64],
        ahead: impl Fn(&[(WordId, f64)]),
        visit: impl FnMut(&[(WordId, f64)], &[f64], &[[f64; 2]]),
    ) {
        let (rows, noise) = (&query.store.rows, self.noise(query.store));
        self.model.add_both::<LOGS>(query, rows, out, noise, ahead, visit);
    }

    /// l_ik of a word, by class; 0 for an unseen word if those are skipped.
    pub(crate) fn log_odds<'a>(
        &'a self,
        store: &'a Store,
        terms: &'a [ClassTerms],
        word: WordId,
    ) -> impl Fn(ClassId) -> f64 + 'a {
        let total: f64 = store.rows.cells(word).map(|cell| cell.tokens).sum();
        let (model, noise) = (&self.model, self.noise(store));
        move |class| {
            if total == 0.0 && !model.is_smooth() {
                return 0.0;
            }
            let own = store.rows.cell(word, class).map_or(0.0, |cell| cell.tokens);
            let own = noise.map_or(own, |noise| noise.of(class).true_count(own, total));
            let terms = &terms[class as usize];
            (model.log_plus(own) - terms.tokens)
                - (model.log_plus(total - own) - terms.tokens_complement)
        }
    }
}
