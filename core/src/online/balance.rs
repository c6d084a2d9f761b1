//! How far a label is trusted, from the labels before it.
//!
//! People label in bursts: twenty labels of one class, or twenty wrong ones in a row. All their errors
//! have one direction, and such steps would move words that all messages contain. Let R_k be the
//! number of recent labels of class k, this label included, with a decay of 0.9 (so n = 10 labels
//! count); s_k the share of class k among all learned messages; and y the class of this label.
//!
//!   z = max_k (R_k − n s_k) / max(√(n s_k (1 − s_k)), 1)        0 ≤ z ≤ 9
//!   D ← D + (min(z², 9) − D) / 2000                             1 ≤ D
//!   burst    = min_k (b_k / R_k)⁴,   b_k = n s_k + 1.5 √(n s_k) + 1
//!   one side = ((n' − R_y) / w)⁴,    w = min(2, n (1 − s_y) / 4)
//!   factor   = min(1, burst, one side)^(1/D),   exponent = 0.1 + 0.2 z / √D
//!
//! where n' is the sum of R_k, which start at n s_k. Steps, and the calibration of two classes, are multiplied by
//! factor · P(label)^exponent; the calibration of more classes by factor. Labels that are independent of each other have z near 0 and a factor of 1, so little
//! changes. D is the dispersion: if the labels of a stream often come in runs, runs mean less.
//!
//! The second factor is the one of generalised cross-entropy (Zhang and Sabuncu 2018). The constants were
//! chosen on SMS, ExAIS, SpamAssassin and TREC questions, and confirmed on R8, smishing and AG News.

use crate::counts::alloc::element;
use crate::counts::codec::{Reader, corrupt, put_float};
use crate::counts::{ClassId, Store};
use crate::error::Result;

/// Decay of the recent labels, and their number n.
const DECAY: f64 = 0.9;
const RECENT: f64 = 10.0;
/// Labels that the dispersion averages, and the largest z and z² in it.
const MEMORY: f64 = 2000.0;
const MOST_EXCESS: f64 = 9.0;
const MOST_SQUARE: f64 = 9.0;
const POWER: i32 = 4;
const SLACK: f64 = 1.5;
/// Labels of other classes that are expected among the recent labels.
const OTHERS: f64 = 2.0;
const EXPONENT: f64 = 0.2;
/// Of every label: one wrong click contradicts a confident score, too.
const LEAST_EXPONENT: f64 = 0.1;

/// How far a label is trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// From 0 to 1.
    pub factor: f64,
    /// Of P(label).
    pub exponent: f64,
}

impl Trust {
    /// The factor of a step, from P(label).
    pub fn of(self, label: f64) -> f64 {
        self.factor * label.powf(self.exponent)
    }
}

/// The recent labels and their dispersion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balance {
    /// R, by class.
    recent: Vec<f64>,
    /// D − 1.
    excess_dispersion: f64,
}

impl Balance {
    /// Add a label and return how far it is trusted. The message is not counted yet.
    pub fn learn(&mut self, store: &Store, class: ClassId) -> Trust {
        let unit = store.unit();
        let (all, classes) = (store.documents() / unit, store.existing_classes() as f64);
        let share = |class: usize| {
            let documents = store.classes.get(class).map_or(0.0, |class| class.documents / unit);
            (documents + 1.0 / classes) / (all + 1.0)
        };
        if self.recent.is_empty() {
            self.recent.extend((0..store.classes.len()).map(|class| RECENT * share(class)));
        }
        element(&mut self.recent, class as usize);
        self.recent.iter_mut().for_each(|recent| *recent *= DECAY);
        self.recent[class as usize] += 1.0;
        let (mut z, mut base) = (0.0_f64, 1.0_f64);
        for (class, &recent) in self.recent.iter().enumerate() {
            let share = share(class);
            let expected = share * RECENT;
            let deviation = (expected * (1.0 - share)).sqrt().max(1.0);
            z = z.max(((recent - expected) / deviation).min(MOST_EXCESS));
            base = base.min((expected + SLACK * expected.sqrt() + 1.0) / recent);
        }
        let others = self.recent.iter().sum::<f64>() - self.recent[class as usize];
        let wanted = OTHERS.min(RECENT * (1.0 - share(class as usize)) / 4.0);
        base = base.min(others / wanted);
        let dispersion = 1.0 + self.excess_dispersion;
        let learned = dispersion + (MOST_SQUARE.min(z * z) - dispersion) / MEMORY;
        self.excess_dispersion = (learned - 1.0).max(0.0);
        let factor = if base < 1.0 { base.powi(POWER).powf(1.0 / dispersion) } else { 1.0 };
        Trust { factor, exponent: LEAST_EXPONENT + EXPONENT * z / dispersion.sqrt() }
    }

    pub fn forget_class(&mut self, class: ClassId) {
        if let Some(recent) = self.recent.get_mut(class as usize) {
            *recent = 0.0;
        }
        if self.recent.iter().all(|&recent| recent == 0.0) {
            *self = Balance::default();
        }
    }

    /// Set it to the mean of both streams, or to the one that has labels.
    pub fn merge(&mut self, other: &Self, class_of: &[ClassId]) {
        let theirs = match (self.recent.is_empty(), other.recent.is_empty()) {
            (_, true) => 0.0,
            (true, false) => 1.0,
            (false, false) => 0.5,
        };
        self.recent.iter_mut().for_each(|recent| *recent *= 1.0 - theirs);
        for (&recent, &class) in other.recent.iter().zip(class_of) {
            *element(&mut self.recent, class as usize) += theirs * recent;
        }
        self.excess_dispersion *= 1.0 - theirs;
        self.excess_dispersion += theirs * other.excess_dispersion;
    }

    pub fn put(&self, classes: &[ClassId], bytes: &mut Vec<u8>) {
        for &class in classes {
            put_float(bytes, self.recent.get(class as usize).copied().unwrap_or(0.0));
        }
        put_float(bytes, self.excess_dispersion);
    }

    pub fn restore(reader: &mut Reader<'_>, classes: usize) -> Result<Self> {
        let recent = (0..classes).map(|_| reader.float()).collect::<Result<Vec<_>>>()?;
        let excess_dispersion = reader.float()?;
        let numbers = recent.iter().chain([&excess_dispersion]);
        if numbers.copied().any(|number| !(0.0..=RECENT + 1e-6).contains(&number)) {
            return Err(corrupt("invalid number of recent labels"));
        }
        let has_labels = recent.iter().any(|&recent| recent > 0.0);
        Ok(Balance { recent: if has_labels { recent } else { Vec::new() }, excess_dispersion })
    }
}
