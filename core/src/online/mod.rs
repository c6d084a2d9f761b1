//! OnlineNB: naive Bayes with corrections that are learned by one step for each message.
//!
//! A message passes the files in this order:
//!
//! 1. [`score`]: the log odds of naive Bayes, plus a bias and a correction for each word; the
//!    probabilities from scores.
//! 2. [`step`]: the label arrives. The error of the score is the gradient of one step.
//! 3. [`balance`]: labels that come one-sided, or contradict a confident score, take shorter steps.
//! 4. [`noise`]: the estimated shares of wrong labels reduce the gradient.
//! 5. [`corrections`]: the sums of gradients that give the corrections; [`damping`] of frequent words.
//! 6. [`calibration`]: probabilities from scores; [`exposure`]: which classes take steps.
//! 7. [`heads`]: several scores of one message, each with its own corrections, and their shares.
//! 8. [`undo`]: the steps that unlearning takes back.
//!
//! [`labels`] is the model of several labels for each message, with the state of [`label_state`].
//!
//! [`config`] has the parameters. [`state`] holds all of this next to the counts: it is saved, merged, and notified of forgotten words
//! and classes. [`explain`] divides a score into the contributions of words.

pub mod balance;
pub mod calibration;
pub mod config;
pub mod corrections;
pub mod damping;
pub mod explain;
pub mod exposure;
pub mod heads;
pub mod label_state;
pub mod labels;
pub mod noise;
pub mod score;
pub mod state;
pub mod step;
pub mod undo;
