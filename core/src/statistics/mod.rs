//! Statistics of the counts: each is a [`Statistic`](crate::counts::statistic::Statistic) of the store,
//! computed periodically and swapped in, or updated with each message.

pub mod calibration;
pub mod class_exposure;
pub mod cooccurrence;
pub mod corrections;
pub mod damping;
pub mod effective;
pub mod grow;
pub mod instance_weights;
pub mod label_noise;
pub mod online_weights;
pub mod packages;
pub mod parents;
pub mod saved;
pub mod split;
pub mod tree;
pub mod word_weights;

/// Return the bounds of each row of a sparse matrix with so many cells; None unless they ascend
/// within the cells.
fn row_bounds(indptr: &[i64], cells: usize) -> Option<Vec<(usize, usize)>> {
    let bounds = indptr.windows(2).map(|bounds| {
        let (start, end) = (usize::try_from(bounds[0]).ok()?, usize::try_from(bounds[1]).ok()?);
        (start <= end && end <= cells).then_some((start, end))
    });
    bounds.collect()
}
