//! Keyword arguments of Python, set one by one in a struct of options.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;

/// Gives each keyword with its value to `set`, which returns whether it knows the keyword.
pub fn read_options(
    callable: &str,
    options: Option<&Bound<'_, PyDict>>,
    mut set: impl FnMut(&str, &Bound<'_, PyAny>) -> PyResult<bool>,
) -> PyResult<()> {
    for (key, value) in options.into_iter().flatten() {
        let name = key.extract::<PyBackedStr>()?;
        let known = set(&name, &value).map_err(|error| match error {
            error if error.is_instance_of::<PyTypeError>(key.py()) => {
                PyTypeError::new_err(format!("argument '{name}': {}", error.value(key.py())))
            }
            error => error,
        })?;
        if !known {
            let message = format!("{callable} got an unexpected keyword argument '{name}'");
            return Err(PyTypeError::new_err(message));
        }
    }
    Ok(())
}
