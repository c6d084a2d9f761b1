//! The number of messages of each class since a second class was known. A class takes steps only after
//! enough messages of it and of others.

use crate::counts::ClassId;
use crate::counts::alloc::element;
use crate::counts::codec::{Reader, put};
use crate::error::Result;

/// Messages by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassExposure {
    by_class: Vec<u64>,
    /// The sum, which is read for each class of each message.
    all: u64,
}

impl ClassExposure {
    fn of_classes(by_class: Vec<u64>) -> Self {
        let all = by_class.iter().fold(0_u64, |sum, &exposure| sum.saturating_add(exposure));
        ClassExposure { by_class, all }
    }

    fn of(&self, class: ClassId) -> u64 {
        self.by_class.get(class as usize).copied().unwrap_or(0)
    }

    /// Add messages of a class.
    pub fn add(&mut self, class: ClassId, messages: u64) {
        let exposure = element(&mut self.by_class, class as usize);
        *exposure = exposure.saturating_add(messages);
        self.all = self.all.saturating_add(messages);
    }

    /// Whether there were at least `least` messages of a class, and of all others.
    pub fn is_warm(&self, class: ClassId, least: u64) -> bool {
        let of_class = self.of(class);
        of_class >= least && self.all - of_class >= least
    }

    /// Whether any class is warm.
    pub fn any_is_warm(&self, least: u64) -> bool {
        least == 0 || (0..self.by_class.len() as ClassId).any(|class| self.is_warm(class, least))
    }

    pub fn forget(&mut self, class: ClassId) {
        if let Some(exposure) = self.by_class.get_mut(class as usize) {
            *exposure = 0;
            *self = ClassExposure::of_classes(std::mem::take(&mut self.by_class));
        }
    }

    /// Add the messages of another model, whose class ids are mapped by `class_of`.
    pub fn merge(&mut self, other: &Self, class_of: &[ClassId]) {
        for (&exposure, &class) in other.by_class.iter().zip(class_of) {
            if exposure > 0 {
                self.add(class, exposure);
            }
        }
    }

    pub fn put(&self, classes: &[ClassId], bytes: &mut Vec<u8>) {
        classes.iter().for_each(|&class| put(bytes, self.of(class)));
    }

    pub fn restore(reader: &mut Reader<'_>, classes: usize) -> Result<Self> {
        (0..classes).map(|_| reader.number()).collect::<Result<_>>().map(ClassExposure::of_classes)
    }
}
