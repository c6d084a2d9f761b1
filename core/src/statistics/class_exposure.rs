//! How many messages of each class came when it and another were known: before enough of both sides
//! came, what comes tells nothing of what tells them apart.

use crate::counts::codec::{Reader, put};
use crate::counts::rows::ClassId;
use crate::error::Result;

/// What is taken for met in bytes of before it was counted: those models had taken steps.
const ENOUGH: u64 = 1 << 32;

/// Messages met, by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassExposure {
    by_class: Vec<u64>,
    /// Their sum, as each class is asked for at each message.
    all: u64,
}

impl ClassExposure {
    /// So many of each of some classes that all have enough.
    pub fn enough(classes: usize) -> Self {
        ClassExposure::of_classes(vec![ENOUGH; classes])
    }

    fn of_classes(by_class: Vec<u64>) -> Self {
        let all = by_class.iter().fold(0_u64, |sum, &met| sum.saturating_add(met));
        ClassExposure { by_class, all }
    }

    fn of(&self, class: ClassId) -> u64 {
        self.by_class.get(class as usize).copied().unwrap_or(0)
    }

    /// Adds messages of a class.
    pub fn add(&mut self, class: ClassId, messages: u64) {
        if self.by_class.len() <= class as usize {
            self.by_class.resize(class as usize + 1, 0);
        }
        let met = &mut self.by_class[class as usize];
        *met = met.saturating_add(messages);
        self.all = self.all.saturating_add(messages);
    }

    /// Whether there were so many at least of a class, and of what is not of it.
    pub fn is_warm(&self, class: ClassId, least: u64) -> bool {
        let of_class = self.of(class);
        of_class >= least && self.all - of_class >= least
    }

    /// Whether any class is told apart.
    pub fn any_is_warm(&self, least: u64) -> bool {
        least == 0 || (0..self.by_class.len() as ClassId).any(|class| self.is_warm(class, least))
    }

    pub fn forget(&mut self, class: ClassId) {
        if let Some(met) = self.by_class.get_mut(class as usize) {
            *met = 0;
            *self = ClassExposure::of_classes(std::mem::take(&mut self.by_class));
        }
    }

    /// Adds those of another model, whose classes have other numbers.
    pub fn merge(&mut self, other: &Self, class_of: &[ClassId]) {
        for (&met, &class) in other.by_class.iter().zip(class_of) {
            if met > 0 {
                self.add(class, met);
            }
        }
    }

    pub fn put(&self, classes: &[ClassId], bytes: &mut Vec<u8>) {
        classes.iter().for_each(|&class| put(bytes, self.of(class)));
    }

    pub fn restore(reader: &mut Reader<'_>, classes: usize) -> Result<Self> {
        (0..classes).map(|_| reader.number()).collect::<Result<_>>().map(ClassExposure::of_classes)
    }

    pub fn size(&self) -> usize {
        self.by_class.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_have_to_come() {
        let mut met = ClassExposure::default();
        assert!(met.any_is_warm(0) && !met.any_is_warm(1));
        met.add(2, 9);
        assert!(!met.is_warm(2, 5) && !met.any_is_warm(5));
        met.add(0, 4);
        assert!(!met.is_warm(2, 5) && met.is_warm(2, 4));
        met.add(1, 1);
        assert!(met.is_warm(2, 5) && !met.is_warm(0, 5) && met.any_is_warm(5));
        met.forget(2);
        assert!(!met.any_is_warm(2));
        assert!(ClassExposure::enough(2).is_warm(1, 1 << 20));
    }

    #[test]
    fn others_add_up_and_bytes_are_by_order() {
        let (mut one, mut other) = (ClassExposure::default(), ClassExposure::default());
        one.add(1, 3);
        other.add(0, u64::MAX);
        other.add(1, 2);
        one.merge(&other, &[1, 4]);
        assert_eq!((one.of(1), one.of(4), one.of(0)), (u64::MAX, 2, 0));
        let mut bytes = Vec::new();
        one.put(&[4, 1], &mut bytes);
        assert_eq!(
            ClassExposure::restore(&mut Reader::new(&bytes), 2),
            Ok(ClassExposure::of_classes(vec![2, u64::MAX]))
        );
    }
}
