//! Rows compared with maps: packed, widened, divided.

use super::*;

#[test]
fn rows_that_are_divided_when_they_are_touched_are_those_divided_at_once() {
    // A fixed sequence of additions, removals and divisions, compared with a simple map.
    let mut rows = Rows::new(true, true);
    rows.reach(7);
    let mut map = std::collections::BTreeMap::<(WordId, ClassId), (f64, f64)>::new();
    let mut state = 1u64;
    for step in 0..5_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (word, class) = ((state >> 33) as u32 % 8, (state >> 40) as u32 % 5);
        let amount = 1.5 * f64::from(step % 700).exp2();
        match (state >> 50) % 16 {
            0 => {
                rows.set(word, class, 0.0, 0.0);
                map.remove(&(word, class));
            }
            1 => {
                let times = (state >> 55) as u32 % 3;
                rows.divide(times);
                for (tokens, documents) in map.values_mut() {
                    for _ in 0..times {
                        *tokens = (*tokens * (-256f64).exp2()).max((-400f64).exp2());
                        *documents = (*documents * (-256f64).exp2()).max((-400f64).exp2());
                    }
                }
            }
            _ => {
                let amount = amount.min(255f64.exp2());
                rows.add(word, class, amount, 1.0);
                let (tokens, documents) = map.entry((word, class)).or_default();
                *tokens += amount;
                *documents += 1.0;
            }
        }
        for word in 0..8 {
            let mut cells: Vec<_> = rows.cells(word).collect();
            cells.sort_unstable_by_key(|cell| cell.class);
            let found = cells.iter().map(|c| ((word, c.class), (c.tokens, c.documents)));
            let expected = map.range((word, 0)..(word, 9)).map(|(&key, &value)| (key, value));
            assert!(found.eq(expected), "step {step}");
        }
    }
    assert!(rows.divisions > 200);
}

#[test]
fn packed_rows_agree_with_a_map() {
    // A fixed sequence of additions and removals, including counts and classes that do not fit and
    // fractions, compared with a simple map.
    let mut rows = Rows::new(true, false);
    rows.reach(11);
    let mut map = std::collections::BTreeMap::<(WordId, ClassId), (f64, f64)>::new();
    let mut state = 1u64;
    for step in 0..40_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let word = (state >> 33) as u32 % 12;
        // Words of one class, of a few, and of many.
        let mut class = (state >> 40) as u32 % [1, 2, 3, 40, 5, 5, 5][word as usize % 7];
        if (4..7).contains(&word) {
            class += 4 * (word - 4); // the classes of one begin where those of another end
        }
        // Blocks of cells fill up, become empty and are reused.
        let removals = if step / 400 % 4 == 0 { 50 } else { 500 };
        match (state >> 50) % 1024 {
            number if number < removals => {
                rows.set(word, class, 0.0, 0.0);
                map.remove(&(word, class));
            }
            number => {
                let amounts = match number {
                    500 => (0.5, 1.0),
                    501 => (1_048_575.0, 1.0),
                    502 => (1e15, 1e9),
                    504 => (3.0, 1_048_575.0),
                    _ => (2.0, 1.0),
                };
                let class = if number == 503 { 1 << 22 } else { class };
                let (tokens, documents) = map.entry((word, class)).or_default();
                let before = *documents;
                *tokens += amounts.0;
                *documents += amounts.1;
                let added = rows.add(word, class, amounts.0, amounts.1);
                assert_eq!(added, (*documents, before), "step {step}");
            }
        }
        // Check all words: no change may leak to another word.
        for word in 0..12 {
            let mut cells: Vec<_> = rows.cells(word).collect();
            cells.sort_unstable_by_key(|cell| cell.class);
            let found = cells.iter().map(|c| ((word, c.class), (c.tokens, c.documents)));
            let expected = map.range((word, 0)..=(word, ClassId::MAX));
            assert!(found.eq(expected.map(|(&key, &value)| (key, value))), "step {step}");
        }
        let tokens = map.get(&(word, class)).map(|&(tokens, _)| tokens);
        assert_eq!(rows.cell(word, class).map(|cell| cell.tokens), tokens);
        assert_eq!(rows.is_empty(word), rows.cells(word).next().is_none());
    }
    assert_eq!(rows.n_cells(), map.len());
    // Freed wide rows are reused.
    assert!(rows.wide.slots() <= 12);
}

#[test]
fn a_division_changes_the_rows_that_are_touched_after_it_and_no_other() {
    let mut rows = Rows::new(true, true);
    rows.reach(999);
    for word in 0..1000 {
        rows.add(word, word % 3, 255f64.exp2(), 1.0);
    }
    rows.divide(1);
    for word in [7, 8, 8] {
        rows.add(word, 0, 1.0, 1.0);
    }
    assert_eq!(rows.seen.iter().flatten().filter(|&&seen| seen > 0).count(), 2);
    assert_eq!(
        **rows.wide.cell(9, 0).expect("a cell"),
        Counts { tokens: 255f64.exp2(), documents: 1.0, length: 0.0 }
    );
    assert_eq!(rows.cell(9, 0).map(|cell| cell.tokens), Some(0.5));
}
