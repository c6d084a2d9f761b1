//! From scores to a decision.

use crate::counts::rows::ClassId;
use crate::counts::store::Store;

/// Return the class with the highest score among those with documents; ties go to the lowest rank.
pub fn best(store: &Store, scores: &[f64]) -> Option<ClassId> {
    let mut best: Option<ClassId> = None;
    for (class, &score) in scores.iter().enumerate() {
        let class = class as ClassId;
        let better = best.is_none_or(|other| {
            let leader = scores[other as usize];
            score > leader || (score == leader && store.rank(class) < store.rank(other))
        });
        if better && store.classes()[class as usize].exists() {
            best = Some(class);
        }
    }
    best
}

/// Return the probability of each class, the softmax of the scores; 0 for a class without documents.
pub fn probabilities(store: &Store, scores: &[f64]) -> Vec<f64> {
    let Some(best) = best(store, scores) else { return vec![0.0; scores.len()] };
    let highest = scores[best as usize];
    let mut shares: Vec<f64> = scores
        .iter()
        .zip(store.classes())
        .map(|(&score, class)| match class.exists() {
            // Equal scores have equal shares, even if infinite.
            true if score == highest => 1.0,
            true => (score - highest).exp(),
            false => 0.0,
        })
        .collect();
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

/// −ln of the probability of a class.
pub fn loss(store: &Store, scores: &[f64], class: ClassId) -> f64 {
    let existing = || scores.iter().zip(store.classes()).filter(|(_, class)| class.exists());
    let highest = existing().map(|(&score, _)| score).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = existing().map(|(score, _)| (score - highest).exp()).sum();
    scores.get(class as usize).map_or(f64::INFINITY, |score| highest + sum.ln() - score)
}
