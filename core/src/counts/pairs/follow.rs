//! Updating the pair table with many documents on several threads.

use crate::counts::index::Document;
use crate::counts::pairs::shard::Shard;
use crate::counts::pairs::{PairTable, Row, SHARDS, rows, shard};
use crate::threads::{lock, shared};
use crate::watch::Watch;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

/// Pairs that a thread processes between checks of the limit: checking for each word costs text
/// messages a tenth of the time.
const ASK: usize = 1 << 12;

/// A document that enters or leaves the index.
#[derive(Clone, Copy)]
pub struct Change<'a> {
    pub document: &'a Document,
    pub enters: bool,
}

impl PairTable {
    /// Learns and unlearns documents in order, like [`learn`](Self::learn) and
    /// [`unlearn`](Self::unlearn), on several threads: each reads all pairs and changes its own
    /// shards. Whether the table is dropped does not depend on the number of threads; until then
    /// each thread may hold as many cells as are allowed in total.
    pub fn follow(&mut self, changes: &[Change<'_>], threads: usize) {
        let threads = threads.min(self.shards.len());
        if threads <= 1 {
            for &Change { document, enters } in changes {
                let learn = if enters { Self::learn } else { Self::unlearn };
                learn(self, document.class, &document.words, document.weight);
            }
            return;
        }
        let (mut cells, limit) = (self.cells as isize, self.limit as isize);
        let total = Total {
            limit,
            own: self.own,
            cells: AtomicIsize::new(cells),
            grows: changes.iter().all(|change| change.enters),
            exceeded: AtomicBool::new(false),
        };
        let shares = Mutex::new(Share::of(&mut self.shards, threads));
        let work = |_: &Watch| {
            let share = lock(&shares).pop();
            share.map_or_else(Vec::new, |share| share.follow(changes, &total))
        };
        let found = shared(threads, &Watch::default(), work, work);
        let mut fits = !total.exceeded.into_inner();
        for (place, change) in changes.iter().enumerate() {
            cells += found.iter().filter_map(|after| after.get(place)).sum::<isize>();
            fits &= !change.enters || cells <= limit;
        }
        self.cells = cells as usize;
        if !fits {
            self.drop_all();
        }
    }
}

/// State shared by the threads.
struct Total {
    limit: isize,
    own: bool,
    /// Cells of all threads, up to their last update.
    cells: AtomicIsize,
    /// Whether no document leaves.
    grows: bool,
    exceeded: AtomicBool,
}

impl Total {
    /// Whether there are certainly too many cells, given `own` cells of this thread, `added` since
    /// the last check.
    fn exceeds(&self, own: isize, added: isize) -> bool {
        let cells = self.cells.fetch_add(added, Ordering::Relaxed) + added;
        if own > self.limit || self.grows && cells > self.limit {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        self.exceeded.load(Ordering::Relaxed)
    }
}

/// The shards of one thread, by position.
#[derive(Default)]
struct Share<'a> {
    shards: [Option<&'a mut Shard>; SHARDS],
    cells: isize,
}

impl<'a> Share<'a> {
    /// One share for each thread.
    fn of(shards: &'a mut [Shard], threads: usize) -> Vec<Self> {
        let mut shares: Vec<Self> = (0..threads).map(|_| Share::default()).collect();
        for (place, shard) in shards.iter_mut().enumerate() {
            let share = &mut shares[place % threads];
            share.cells += shard.len() as isize;
            share.shards[place] = Some(shard);
        }
        shares
    }

    /// Applies the changes until there are too many cells; returns the growth after each change.
    fn follow(mut self, changes: &[Change<'_>], total: &Total) -> Vec<isize> {
        let mut after = Vec::with_capacity(changes.len());
        let (mut chosen, mut seen, mut unsaid) = (Vec::new(), 0, 0);
        for &Change { document, enters } in changes {
            let mut more = 0;
            for row in rows(document.class, &document.words, document.weight, total.own) {
                let number = self.choose(&row, &mut chosen);
                let chosen = &chosen[..number];
                for &(hash, _) in chosen {
                    if let Some(shard) = &self.shards[shard(hash)] {
                        shard.touch(hash);
                    }
                }
                let mut changed = 0;
                for &(hash, place) in chosen {
                    let Some(shard) = &mut self.shards[shard(hash)] else { continue };
                    let cell = row.cell(row.others[place as usize]);
                    changed += isize::from(match enters {
                        true => shard.add(hash, cell),
                        false => shard.subtract(hash, cell),
                    });
                }
                let changed = if enters { changed } else { -changed };
                more += changed;
                unsaid += changed;
                self.cells += changed;
                seen += row.others.len();
                if seen >= ASK {
                    if total.exceeds(self.cells, std::mem::take(&mut unsaid)) {
                        return after;
                    }
                    seen = 0;
                }
            }
            after.push(more);
        }
        after
    }

    /// Selects the pairs of a row that belong to these shards, as hashes and positions of the other
    /// word; returns their number. No branch depends on a hash: half of them would be mispredicted.
    fn choose(&self, row: &Row<'_>, chosen: &mut Vec<(u64, u32)>) -> usize {
        if chosen.len() < row.others.len() {
            chosen.resize(row.others.len(), (0, 0));
        }
        let mut number = 0;
        for (place, hash) in row.hashes().enumerate() {
            chosen[number] = (hash, place as u32);
            number += usize::from(self.shards[shard(hash)].is_some());
        }
        number
    }
}
