//! The clustering algorithm: farthest-first seeds (Gonzalez 1985), then rounds of assignment and retraining
//! as in *k*-means (Lloyd 1982), then pruning. The distance of a set to a dictionary is its compressed size.

use linerate_core::{Kind, Result};
use zstd_safe::CDict;

use crate::cluster::{Choice, Clustering, ClusteringResult, Costs, Reason, SampleSet, SetReport};
use crate::keep::worth_keeping;
use crate::samples::{Parts, scaled, thin};
use crate::savings::{Meter, prepare};
use crate::threads::map;
use crate::train::Training;

/// Training bytes of one dictionary, unless 128 times its size is more.
const LEARNED: usize = 4 << 20;

pub(crate) struct Sharing<'a> {
    settings: &'a Clustering,
    watch: &'a (dyn Fn(usize) + Sync),
    sets: Vec<Known<'a>>,
    rounds: usize,
}

/// A set, its samples, and its measured costs.
struct Known<'a> {
    parts: Parts<'a>,
    bytes: u64,
    without: u64,
    /// Compressed bytes with a dictionary of its own, and the bytes of that.
    own: Option<(u64, usize)>,
}

/// A dictionary, and the compressed size of each set with it.
struct Shared {
    bytes: Vec<u8>,
    costs: Vec<u64>,
    trained_for: Vec<usize>,
}

impl Shared {
    /// Bytes of some sets compressed with the dictionary, and of the dictionary.
    fn total(&self, sets: &[usize]) -> u64 {
        sets.iter().fold(self.bytes.len() as u64, |sum, &i| sum.saturating_add(self.costs[i]))
    }
}

impl<'a> Sharing<'a> {
    /// Measures each set without a dictionary and with its own.
    pub(crate) fn new(
        settings: &'a Clustering,
        sets: &[SampleSet<'a>],
        watch: &'a (dyn Fn(usize) + Sync),
    ) -> Result<Sharing<'a>> {
        let known = |set: &SampleSet<'a>| {
            let parts = Parts::of(&thin(set.samples, settings.sample_limit));
            // A set without samples has no measurable cost.
            let bytes = if parts.check_bytes() == 0 { 0 } else { set.bytes };
            Known { parts, bytes, without: 0, own: None }
        };
        let mut sharing = Sharing { settings, watch, sets: sets.iter().map(known).collect(), rounds: 0 };
        for (i, cost) in sharing.column(None)?.into_iter().enumerate() {
            sharing.sets[i].without = cost;
        }
        let own = map(sets.len(), settings.threads, |i| sharing.own(i));
        for (set, own) in sharing.sets.iter_mut().zip(own) {
            set.own = own?;
        }
        Ok(sharing)
    }

    pub(crate) fn run(mut self) -> Result<ClusteringResult> {
        let one = match self.settings.most {
            0 => None,
            _ => self.shared((0..self.sets.len()).collect())?,
        };
        let mut shared = if self.settings.most < 2 { Vec::new() } else { self.seeds(one.as_ref())? };
        self.settle(&mut shared)?;
        let for_all = self.costs(one.as_slice());
        shared.extend(one);
        self.leave_out(&mut shared);
        self.settle(&mut shared)?;
        self.leave_out(&mut shared);
        Ok(self.report(shared, for_all))
    }

    /// Cost of a set with its own dictionary, which is not kept: there may be very many.
    fn own(&self, set: usize) -> Result<Option<(u64, usize)>> {
        let Some(dictionary) = self.train(&[set])? else { return Ok(None) };
        let prepared = prepare(&dictionary, self.settings.level)?;
        Ok(Some((self.cost(set, Some(&prepared))?, dictionary.len())))
    }

    /// Trains seeds, each for the set that the dictionaries so far serve worst: the first compared with one
    /// dictionary for all, the others with the seeds before.
    fn seeds(&self, one: Option<&Shared>) -> Result<Vec<Shared>> {
        let plain: Vec<u64> = self.sets.iter().map(|set| set.without).collect();
        let mut nearest = one.map_or_else(|| plain.clone(), |one| one.costs.clone());
        let mut seeds: Vec<Shared> = Vec::new();
        while seeds.len() < self.settings.most {
            let Some(seed) = self.farthest(&nearest, &seeds) else { break };
            let Some(shared) = self.shared(vec![seed])? else { break };
            let before = if seeds.is_empty() { &plain } else { &nearest };
            nearest = before.iter().zip(&shared.costs).map(|(&a, &b)| a.min(b)).collect();
            seeds.push(shared);
        }
        Ok(seeds)
    }

    /// The set with the largest ratio of cost to cost with its own dictionary.
    fn farthest(&self, nearest: &[u64], seeds: &[Shared]) -> Option<usize> {
        let distance =
            |i: usize| nearest[i] as f64 / self.sets[i].own.map_or(0, |(cost, _)| cost).max(1) as f64;
        let able = (0..self.sets.len()).filter(|&i| {
            self.sets[i].own.is_some_and(|(cost, _)| cost < nearest[i])
                && !seeds.iter().any(|seed| seed.trained_for == [i])
        });
        // The first of equal ones.
        able.rev().max_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    }

    /// Assigns sets and retrains dictionaries until nothing changes.
    fn settle(&mut self, shared: &mut [Shared]) -> Result<()> {
        for _ in 0..self.settings.rounds {
            let members = self.members(shared);
            let mut moved = false;
            for (shared, members) in shared.iter_mut().zip(members) {
                if members == shared.trained_for || members.is_empty() {
                    continue;
                }
                let Some(trained) = self.shared(members.clone())? else { continue };
                // A dictionary is replaced only by a better one, so the rounds terminate.
                if trained.total(&members) < shared.total(&members) {
                    *shared = trained;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
            self.rounds += 1;
        }
        Ok(())
    }

    /// Drops dictionaries that do not save their own size, or exceed the maximum.
    fn leave_out(&self, shared: &mut Vec<Shared>) {
        let columns: Vec<&[u64]> = shared.iter().map(|s| s.costs.as_slice()).collect();
        let bytes: Vec<u64> = shared.iter().map(|s| s.bytes.len() as u64).collect();
        let plain: Vec<u64> = self.sets.iter().map(|set| set.without).collect();
        let mut kept = worth_keeping(&columns, &plain, &bytes, self.settings.most).into_iter();
        shared.retain(|_| kept.next() == Some(true));
    }

    /// The best dictionary of a set, if it is smaller with one.
    fn choice(&self, shared: &[Shared], set: usize) -> Option<usize> {
        let best = (0..shared.len()).min_by_key(|&i| (shared[i].costs[set], i));
        best.filter(|&i| shared[i].costs[set] < self.sets[set].without)
    }

    fn members(&self, shared: &[Shared]) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); shared.len()];
        for set in 0..self.sets.len() {
            if let Some(choice) = self.choice(shared, set) {
                members[choice].push(set);
            }
        }
        members
    }

    /// Total costs with these dictionaries.
    fn costs(&self, shared: &[Shared]) -> Costs {
        let mut costs = Costs::default();
        for (i, set) in self.sets.iter().enumerate() {
            let cost = self.choice(shared, i).map_or(set.without, |choice| shared[choice].costs[i]);
            costs.blocks = costs.blocks.saturating_add(cost);
        }
        costs.dictionaries = shared.iter().map(|s| s.bytes.len() as u64).sum();
        costs.count = shared.len();
        costs
    }

    fn report(self, shared: Vec<Shared>, one: Costs) -> ClusteringResult {
        let set = |i: usize| {
            let Known { bytes, without, own, .. } = self.sets[i];
            let found = self.choice(&shared, i);
            let choice = match found {
                Some(found) => Choice::Dictionary(found),
                None if bytes == 0 => Choice::Plain(Reason::Empty),
                None if own.is_none() => Choice::Plain(Reason::TooFewSamples),
                None => Choice::Plain(Reason::NoSavings),
            };
            let chosen = found.map_or(without, |found| shared[found].costs[i]);
            SetReport { choice, content: bytes, without, own: own.map(|(cost, _)| cost), chosen }
        };
        let sets: Vec<SetReport> = (0..self.sets.len()).map(set).collect();
        let mut own = Costs::default();
        for set in &self.sets {
            own.blocks = own.blocks.saturating_add(set.own.map_or(set.without, |(cost, _)| cost));
            own.dictionaries += set.own.map_or(0, |(_, bytes)| bytes as u64);
            own.count += usize::from(set.own.is_some());
        }
        ClusteringResult {
            without: self.costs(&[]),
            own,
            one,
            shared: self.costs(&shared),
            rounds: self.rounds,
            sets,
            dictionaries: shared.into_iter().map(|shared| shared.bytes).collect(),
        }
    }

    /// Trains a dictionary for some sets; `None` if their samples do not suffice.
    fn train(&self, sets: &[usize]) -> Result<Option<Vec<u8>>> {
        let Clustering { size, small_tables, .. } = *self.settings;
        let samples: Vec<&[u8]> = sets.iter().flat_map(|&i| &self.sets[i].parts.learn).copied().collect();
        let samples = thin(&samples, LEARNED.max(size.saturating_mul(128)));
        let trained = Training::new(size).small_tables(small_tables).train(&samples);
        (self.watch)(samples.iter().map(|sample| sample.len()).sum());
        match trained {
            Ok(dictionary) => Ok(Some(dictionary)),
            Err(error) if error.kind == Kind::BadArgument => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn shared(&self, sets: Vec<usize>) -> Result<Option<Shared>> {
        let Some(bytes) = self.train(&sets)? else { return Ok(None) };
        let costs = self.column(Some(&bytes))?;
        Ok(Some(Shared { bytes, costs, trained_for: sets }))
    }

    fn cost(&self, set: usize, dictionary: Option<&CDict<'_>>) -> Result<u64> {
        let set = &self.sets[set];
        let sum = Meter::new(self.settings.level)?.sum(&set.parts.check, dictionary)?;
        let measured = set.parts.check_bytes();
        (self.watch)(measured);
        Ok(scaled(sum, measured, set.bytes))
    }

    /// Compressed size of each set with a dictionary, or without.
    fn column(&self, dictionary: Option<&[u8]>) -> Result<Vec<u64>> {
        let prepared = dictionary.map(|bytes| prepare(bytes, self.settings.level)).transpose()?;
        let costs = map(self.sets.len(), self.settings.threads, |i| self.cost(i, prepared.as_ref()));
        costs.into_iter().collect()
    }
}
