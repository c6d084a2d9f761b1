//! Everything that knows Python: a file for each class, arguments in and results out, no more.

mod arrays;
mod batch;
mod errors;
mod exports;
mod functions;
mod learning;
mod mail;
mod messages;
mod options;
mod predicting;
mod scoring;
mod scratch;
mod statistics;
mod store;
mod tokenizer;
mod waiting;

use crate::text::unicode;
use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("UNICODE_VERSION", unicode::version())?;
    module.add_class::<tokenizer::NativeTokenizer>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<scoring::Scoring>()?;
    module.add_class::<store::CountStore>()?;
    module.add_function(wrap_pyfunction!(functions::class_ids, module)?)?;
    module.add_function(wrap_pyfunction!(scoring::compositions, module)?)?;
    module.add_function(wrap_pyfunction!(functions::cooccurrence_squares, module)?)?;
    module.add_function(wrap_pyfunction!(functions::pair_information, module)?)?;
    module.add_function(wrap_pyfunction!(mail::mail_text, module)?)?;
    module.add_function(wrap_pyfunction!(mail::read_mail, module)?)?;
    module.add_function(wrap_pyfunction!(functions::split_depths, module)?)?;
    module.add_function(wrap_pyfunction!(functions::tokenize_and_hash, module)?)
}
