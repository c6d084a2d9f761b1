//! Batches are learned in order, from any kind of messages and on any number of threads.

mod common;

use _core::counts::batch::{Batch, Labelled, Matrix, Messages};
use _core::counts::{AsMessage, ClassId, MAX_COUNT, Message, MessageScratch, Settings, Store};
use _core::text::tokenizer::Tokenizer;
use _core::watch::Watch;
use common::{BAG_OF_WORDS, Random};
use std::ops::Range;

#[derive(Clone)]
struct Text(String);

impl AsMessage for Text {
    fn as_message<'a>(&'a self, tokenizer: &'a Tokenizer) -> Message<'a> {
        Message::Text(&self.0, tokenizer)
    }
}

/// Messages with their classes.
type Labels = (Vec<Text>, Vec<ClassId>);

/// Texts with `words` words in total, some of them frequent.
fn texts(words: usize) -> Labels {
    let (mut random, mut texts, mut classes, mut left) =
        (Random::new(1), Vec::new(), Vec::new(), words);
    while left > 0 {
        let length = left.min(random.below(40));
        let text = (0..length).map(|_| {
            let below = random.below(3_000) + 1;
            format!("word{} ", random.below(below))
        });
        texts.push(Text(text.collect()));
        classes.push(random.below(5) as ClassId);
        left -= length;
    }
    (texts, classes)
}

/// Texts of old and new words, some of them long.
fn growing_texts(number: usize) -> Labels {
    let text = |n: usize| {
        let words = (0..n % 90).map(|i| format!("word{} a-long-enough-word-{n} ", i * n % 577));
        Text(words.collect())
    };
    ((0..number).map(text).collect(), (0..number).map(|n| n as ClassId % 3).collect())
}

fn tokenizer() -> Tokenizer {
    Tokenizer::new(BAG_OF_WORDS).expect("valid options")
}

fn labelled<'a>(
    messages: &'a Messages<Text>,
    tokenizer: &'a Tokenizer,
    classes: &'a [ClassId],
    weight: f64,
) -> Labelled<'a, Text> {
    let batch = Batch { messages, tokenizer };
    Labelled::new(batch, 0..classes.len(), classes, weight).expect("one class for each message")
}

fn learn(
    store: &mut Store,
    messages: &Messages<Text>,
    classes: &[ClassId],
    weight: f64,
    threads: usize,
) {
    let (mut scratch, watch) = (MessageScratch::default(), Watch::default());
    labelled(messages, &tokenizer(), classes, weight)
        .learn_on_threads(store, &mut scratch, threads, &watch)
        .expect("room");
}

/// The counts, and the words in the order of their ids.
fn content(store: &Store) -> (Vec<u8>, Vec<&[u8]>) {
    let ids = 0..store.vocabulary.slots() as u32;
    let words = ids.map(|id| store.vocabulary.word(id)).collect();
    (store.snapshot(false), words)
}

#[test]
fn rows_of_a_matrix_are_learned_as_texts_are() {
    let texts = ["aa bb bb", "", "bb cc"].map(|text| Text(text.to_owned()));
    let texts = Messages::Items(texts.to_vec());
    let (indptr, indices) = ([0, 2, 2, 5], [1, 0, 0, 2, 1]);
    let data = [1.0, 2.0, 1.0, 1.0, 0.0];
    let matrix = Matrix::new(&indptr, &indices, &data, &["bb", "aa", "cc"]).expect("a matrix");
    let rows = Messages::Matrix(matrix);
    assert_eq!((texts.number(), rows.number()), (3, 3));
    let learned = |messages, classes: &[ClassId]| {
        let mut store = Store::new(Settings::COUNTS);
        learn(&mut store, messages, classes, 1.0, 1);
        store.snapshot(false)
    };
    assert_eq!(learned(&texts, &[0, 1, 1]), learned(&rows, &[0, 1, 1]));
    assert_ne!(learned(&texts, &[0, 1, 1]), learned(&rows, &[0, 1, 0]));
}

#[test]
fn invalid_matrices_and_labels_are_refused() {
    let new = |indptr: &[i64], indices: &[i64], data: &[f64]| {
        Matrix::new(indptr, indices, data, &["a"]).is_err()
    };
    assert!(!new(&[0, 1], &[0], &[1.0]));
    assert!(new(&[0, 2], &[0], &[1.0]));
    assert!(new(&[1, 0], &[0], &[1.0]));
    assert!(new(&[0, 1], &[1], &[1.0]));
    assert!(new(&[0, 1], &[-1], &[1.0]));
    assert!(new(&[0, 1], &[0], &[f64::NAN]));
    let messages = Messages::Items(vec![Text("a".into()), Text("b".into())]);
    let tokenizer = tokenizer();
    let labelled = |range, classes| {
        let batch = Batch { messages: &messages, tokenizer: &tokenizer };
        Labelled::new(batch, range, classes, 1.0).is_ok()
    };
    assert!(labelled(0..2, &[0, 1]));
    let reversed = Range { start: 2, end: 1 };
    for (range, classes) in [(0..2, &[0][..]), (0..3, &[0, 1]), (reversed, &[0, 1])] {
        assert!(!labelled(range, classes));
    }
}

#[test]
fn counts_and_ids_do_not_depend_on_the_threads_that_count() {
    let (texts, classes) = texts(60_000);
    let messages = Messages::Items(texts);
    let counts = Settings::COUNTS;
    for (settings, weights) in [
        (counts, [1.0, 3.0]),
        (Settings { frequencies: true, ..counts }, [1.0, 3.0]),
        (Settings { max_features: 500, ..counts }, [1.0, 1.0]),
        // These sums are rounded, so one thread learns them in order.
        (counts, [0.1, 1.0]),
        (counts, [MAX_COUNT, 1.0]),
        (Settings { half_life: Some(9.0), ..counts }, [1.0, 1.0]),
    ] {
        let (mut one, mut many) = (Store::new(settings), Store::new(settings));
        for weight in weights {
            learn(&mut one, &messages, &classes, weight, 1);
            learn(&mut many, &messages, &classes, weight, 3);
            assert!(content(&many) == content(&one), "{settings:?} {weight}");
        }
        assert!(many.vocabulary.len() <= settings.max_features);
    }
}

const ONLINE: Settings = Settings { online_weights: true, ..Settings::COUNTS };

#[test]
fn counts_and_ids_do_not_depend_on_the_threads_that_tokenise() {
    let (mut texts, classes) = growing_texts(2_000);
    // Too long to be tokenised ahead.
    texts[999].0 = "a longer text ".repeat(1 << 15);
    let messages = Messages::Items(texts);
    let mut one = Store::new(ONLINE);
    learn(&mut one, &messages, &classes, 1.0, 1);
    for threads in [2, 3, 8] {
        let mut many = Store::new(ONLINE);
        learn(&mut many, &messages, &classes, 1.0, threads);
        assert!(content(&many) == content(&one));
    }
}

#[test]
fn a_prefix_is_learned_if_the_work_is_stopped() {
    for (settings, (texts, classes)) in
        [(Settings::COUNTS, texts(60_000)), (ONLINE, growing_texts(2_000))]
    {
        let (messages, tokenizer, goes_on) = (Messages::Items(texts), tokenizer(), || false);
        let labelled = labelled(&messages, &tokenizer, &classes, 1.0);
        for threads in [1, 3] {
            let mut some = Store::new(settings);
            let mut scratch = MessageScratch::default();
            let watch = Watch::asking(&goes_on);
            // Long enough for the watch to ask.
            std::thread::sleep(std::time::Duration::from_millis(60));
            labelled.learn_on_threads(&mut some, &mut scratch, threads, &watch).expect("room");
            let number = some.documents() as usize;
            assert!((1..classes.len()).contains(&number), "{number}");
            let mut one = Store::new(settings);
            labelled.learn(&mut one, &mut scratch, 0..number, &Watch::default()).expect("room");
            assert!(some.snapshot(false) == one.snapshot(false));
        }
    }
}
