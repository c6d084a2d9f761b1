//! Batches are learned in order, from any source of messages and on any number of threads.

mod common;

use _core::counts::bag::Bag;
use _core::counts::batch::{Batch, Items, Labelled, Matrix, Messages, PIECE};
use _core::counts::message::{AsMessage, Message};
use _core::counts::rows::ClassId;
use _core::counts::store::{MAX_COUNT, Settings, Store};
use _core::text::tokenizer::{Scratch, Tokenizer, TokenizerOptions};
use _core::watch::Watch;
use common::Random;
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone)]
struct Text(String);

impl AsMessage for Text {
    fn as_message(&self) -> Message<'_> {
        Message::Text(&self.0)
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

/// Texts that can be read up to `end`.
fn unread(texts: &[Text], end: usize) -> Items<Text> {
    let all = texts.to_vec();
    let read = move |places: Range<usize>| (places.end <= end).then(|| all[places].to_vec());
    Items::unread(texts.len(), Box::new(read))
}

fn tokenizer() -> Tokenizer {
    Tokenizer::new(TokenizerOptions::default()).expect("valid options")
}

fn learn(
    store: &mut Store,
    messages: &Messages<Text>,
    classes: &[ClassId],
    weight: f64,
    threads: usize,
) {
    let batch = Batch { messages, tokenizer: &tokenizer() };
    let (mut scratch, mut bag, watch) = (Scratch::new(), Bag::default(), Watch::default());
    Labelled::new(batch, 0..classes.len(), classes, weight)
        .expect("one class for each message")
        .learn_on_threads(store, &mut scratch, &mut bag, threads, &watch)
        .expect("room");
}

fn learned(settings: Settings, items: Items<Text>, classes: &[ClassId], threads: usize) -> Store {
    let mut store = Store::new(settings);
    learn(&mut store, &Messages::Items(items), classes, 1.0, threads);
    store
}

/// The counts, the words in the order of their ids, and the bounds of document frequencies.
fn content(store: &Store) -> (Vec<u8>, Vec<&[u8]>, Vec<f64>) {
    let ids = 0..store.vocabulary().slots() as u32;
    let words = ids.map(|id| store.vocabulary().word(id)).collect();
    let most = store.classes().iter().map(|class| class.most_documents).collect();
    (store.snapshot(false), words, most)
}

#[test]
fn rows_of_a_matrix_are_learned_as_texts_are() {
    let texts = ["aa bb bb", "", "bb cc"].map(|text| Text(text.to_owned()));
    let texts = Messages::Items(texts.to_vec().into());
    let (indptr, indices) = ([0, 2, 2, 5], [1, 0, 0, 2, 1]);
    let data = [1.0, 2.0, 1.0, 1.0, 0.0];
    let matrix = Matrix::new(&indptr, &indices, &data, &["bb", "aa", "cc"]).expect("a matrix");
    let rows = Messages::Matrix(matrix);
    assert_eq!((texts.len(), rows.len(), rows.is_empty()), (3, 3, false));
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
    let messages = Messages::Items(vec![Text("a".into()), Text("b".into())].into());
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
    let messages = Messages::Items(texts.into());
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
        assert!(many.vocabulary().len() <= settings.max_features);
    }
}

const ONLINE: Settings = Settings { online_weights: true, ..Settings::COUNTS };

#[test]
fn counts_and_ids_do_not_depend_on_the_threads_that_tokenise() {
    let (texts, classes) = growing_texts(2_000);
    let one = learned(ONLINE, texts.clone().into(), &classes, 1);
    for threads in [2, 3, 8] {
        let many = learned(ONLINE, texts.clone().into(), &classes, threads);
        assert!(content(&many) == content(&one));
    }
}

#[test]
fn a_prefix_is_learned_if_reading_is_interrupted() {
    let counted = [(0, 2), (1_024, 2), (1_024, 3), (2_048, 3), (2_048, 9)];
    let tokenised = [(0, 2), (512, 2), (1_024, 2)];
    for (settings, (texts, classes), reads) in [
        (Settings::COUNTS, texts(60_000), &counted[..]),
        (ONLINE, growing_texts(2_000), &tokenised),
    ] {
        for &(end, threads) in reads {
            let some = learned(settings, unread(&texts, end), &classes, threads);
            let number = some.documents() as usize;
            let least = if settings == ONLINE { end } else { end / 2 };
            assert!((least..=end).contains(&number), "{number} of {end}");
            let first = texts[..number].to_vec();
            let one = learned(settings, first.into(), &classes[..number], 1);
            assert!(some.snapshot(false) == one.snapshot(false));
        }
    }
}

/// Texts of 0 to 19 bytes.
fn short_texts(number: usize) -> Vec<Text> {
    (0..number).map(|n| Text("y".repeat(n % 20))).collect()
}

fn sizes(items: &Items<Text>, number: usize) -> Vec<Option<usize>> {
    (0..number).map(|place| Some(items.get(place)?.size())).collect()
}

#[test]
fn a_reader_of_a_message_waits_until_it_is_read() {
    let all = short_texts(3 * PIECE);
    let (items, got) = (unread(&all, 3 * PIECE), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let last = scope.spawn(|| {
            got.fetch_add(items.get(0).map_or(0, |_| 1), Ordering::Relaxed);
            items.get(3 * PIECE - 1).map(|message| message.size())
        });
        // The first piece lets the other thread continue to the last one, which does not exist.
        let mean = (0..PIECE).map(|n| n % 20).sum::<usize>() / PIECE;
        assert_eq!(items.mean_bytes(1), Some(mean));
        while got.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        assert!(!last.is_finished());
        items.read(&Watch::default());
        assert_eq!(last.join().expect("no panic"), Some((3 * PIECE - 1) % 20));
    });
    assert!(sizes(&items, 3 * PIECE).into_iter().eq((0..3 * PIECE).map(|n| Some(n % 20))));
}

#[test]
fn readers_do_not_wait_for_messages_that_are_never_read() {
    let goes_on = Cell::new(false);
    let stopping = || goes_on.get();
    let all = short_texts(3 * PIECE);
    for (items, watch) in [
        (unread(&all, PIECE), Watch::default()),
        (unread(&all, 3 * PIECE), Watch::asking(&stopping)),
    ] {
        std::thread::scope(|scope| {
            let last = scope.spawn(|| items.get(3 * PIECE - 1).is_none());
            // Long enough for the watch to be checked.
            std::thread::sleep(std::time::Duration::from_millis(60));
            items.read(&watch);
            assert!(last.join().expect("no panic"));
        });
        assert_eq!(sizes(&items, 3 * PIECE).iter().flatten().count(), PIECE);
    }
}

#[test]
fn present_items_are_read() {
    for len in [0, 1, PIECE, PIECE + 1] {
        let items = Items::from(short_texts(len));
        assert!(sizes(&items, len).into_iter().eq((0..len).map(|n| Some(n % 20))));
        items.read(&Watch::default());
        assert!(items.mean_bytes(usize::MAX).is_some());
    }
}

#[test]
fn a_range_is_cut_into_the_requested_number_of_parts() {
    let items = Items::from(short_texts(200));
    for parts in 1..5 {
        let cut = items.cut(3..198, parts);
        assert_eq!((cut.len(), cut[0].start, cut[parts - 1].end), (parts, 3, 198));
        assert!(cut.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(cut.iter().all(|part| part.len().abs_diff(195 / parts) < 9));
    }
    // Empty ranges, or fewer messages than parts.
    assert_eq!(items.cut(7..7, 3), [7..7, 7..7, 7..7]);
    let cut = Items::from(vec![Text(String::new()), Text(String::new())]).cut(0..2, 3);
    assert_eq!((cut.len(), cut[2].end), (3, 2));
    assert_eq!(cut.iter().map(|part| part.len()).sum::<usize>(), 2);
}
