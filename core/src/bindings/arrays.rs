//! Arrays on their way to numpy, as bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub fn bytes_of<'py, T: Number>(py: Python<'py>, values: &[T]) -> Bound<'py, PyBytes> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    for value in values {
        value.append(&mut bytes);
    }
    PyBytes::new(py, &bytes)
}

/// A number that numpy can read from its native bytes.
pub trait Number: Copy {
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! number {
    ($type:ty) => {
        impl Number for $type {
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
        }
    };
}
number!(f64);
number!(i64);
number!(u32);
