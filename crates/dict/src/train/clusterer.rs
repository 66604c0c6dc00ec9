//! The clustering algorithm: farthest-first seeds (Gonzalez 1985), then rounds of assignment and
//! retraining as in *k*-means (Lloyd 1982), then pruning. The distance of a set to a dictionary is
//! its compressed size.

use linerate_core::{Kind, Result, parallel_map};
use zstd_safe::CDict;

use crate::train::cluster::{Choice, Clustering, ClusteringResult, Costs, Reason, SampleSet, SetReport};
use crate::train::prune::prune_dictionaries;
use crate::train::samples::{Split, extrapolate, subsample};
use crate::train::savings::{SizeMeter, prepare};
use crate::train::training::Training;

impl Clustering {
    /// Runs the clustering. Takes 8 bytes for each pair of set and dictionary, beside the samples
    /// and dictionaries.
    ///
    /// # Errors
    /// Returns [`Kind::Limit`](crate::Kind::Limit) if libzstd is out of memory. Samples cause no
    /// error, whatever they contain.
    pub fn run(&self, sets: &[SampleSet<'_>]) -> Result<ClusteringResult> {
        self.run_with_progress(sets, &|_| {})
    }

    /// Runs the clustering like [`run`](Self::run). `progress` receives, from any thread, the
    /// number of sample bytes compressed or trained with since its last call.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub fn run_with_progress(
        &self,
        sets: &[SampleSet<'_>],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<ClusteringResult> {
        Clusterer::new(self, sets, progress)?.run()
    }
}

pub(crate) struct Clusterer<'a> {
    options: &'a Clustering,
    progress: &'a (dyn Fn(usize) + Sync),
    sets: Vec<MeasuredSet<'a>>,
    rounds: usize,
}

/// A set, its samples, and its measured costs.
struct MeasuredSet<'a> {
    split: Split<'a>,
    bytes: u64,
    without: u64,
    /// Number of compressed bytes with a dictionary of its own, and the number of bytes of that
    /// dictionary.
    own: Option<(u64, usize)>,
}

/// A dictionary, and the compressed size of each set with it.
struct SharedDictionary {
    bytes: Vec<u8>,
    costs: Vec<u64>,
    trained_for: Vec<usize>,
}

impl SharedDictionary {
    /// Returns the compressed size of `sets` with this dictionary, plus the size of the dictionary,
    /// in bytes.
    fn total(&self, sets: &[usize]) -> u64 {
        sets.iter().fold(self.bytes.len() as u64, |sum, &i| sum.saturating_add(self.costs[i]))
    }
}

impl<'a> Clusterer<'a> {
    /// Measures each set without a dictionary, and with its own.
    pub(crate) fn new(
        options: &'a Clustering,
        sets: &[SampleSet<'a>],
        progress: &'a (dyn Fn(usize) + Sync),
    ) -> Result<Clusterer<'a>> {
        let measured = |set: &SampleSet<'a>| {
            let split = Split::new(&subsample(set.samples, options.sample_limit));
            // A set without samples has no measurable cost.
            let bytes = if split.holdout_bytes() == 0 { 0 } else { set.bytes };
            MeasuredSet { split, bytes, without: 0, own: None }
        };
        let mut clusterer =
            Clusterer { options, progress, sets: sets.iter().map(measured).collect(), rounds: 0 };
        for (i, cost) in clusterer.costs_with(None)?.into_iter().enumerate() {
            clusterer.sets[i].without = cost;
        }
        let own = parallel_map(options.threads, 0..sets.len(), || |i| clusterer.own(i));
        for (set, own) in clusterer.sets.iter_mut().zip(own) {
            set.own = own?;
        }
        Ok(clusterer)
    }

    pub(crate) fn run(mut self) -> Result<ClusteringResult> {
        let one = match self.options.max_count {
            0 => None,
            _ => self.shared((0..self.sets.len()).collect())?,
        };
        let mut shared = if self.options.max_count < 2 { Vec::new() } else { self.seeds(one.as_ref())? };
        self.refine(&mut shared)?;
        let for_all = self.costs(one.as_slice());
        shared.extend(one);
        self.prune(&mut shared);
        self.refine(&mut shared)?;
        self.prune(&mut shared);
        Ok(self.report(shared, for_all))
    }

    /// Measures the cost of a set with its own dictionary, which is not kept, because there may be
    /// very many.
    fn own(&self, set: usize) -> Result<Option<(u64, usize)>> {
        let Some(dictionary) = self.train(&[set])? else { return Ok(None) };
        let prepared = prepare(&dictionary, self.options.level)?;
        Ok(Some((self.cost(set, Some(&prepared))?, dictionary.len())))
    }

    /// Trains seeds, each for the set that the dictionaries so far serve worst. The first is
    /// compared with one dictionary for all, the others with the seeds before.
    fn seeds(&self, one: Option<&SharedDictionary>) -> Result<Vec<SharedDictionary>> {
        let costs_without: Vec<u64> = self.sets.iter().map(|set| set.without).collect();
        let mut nearest = one.map_or_else(|| costs_without.clone(), |one| one.costs.clone());
        let mut seeds: Vec<SharedDictionary> = Vec::new();
        while seeds.len() < self.options.max_count {
            let Some(seed) = self.worst_served(&nearest, &seeds) else { break };
            let Some(shared) = self.shared(vec![seed])? else { break };
            let before = if seeds.is_empty() { &costs_without } else { &nearest };
            nearest = before.iter().zip(&shared.costs).map(|(&a, &b)| a.min(b)).collect();
            seeds.push(shared);
        }
        Ok(seeds)
    }

    /// Returns the set with the largest ratio of cost to cost with its own dictionary, among the
    /// sets that their own dictionary makes smaller and for which no seed was trained.
    fn worst_served(&self, nearest: &[u64], seeds: &[SharedDictionary]) -> Option<usize> {
        let distance =
            |i: usize| nearest[i] as f64 / self.sets[i].own.map_or(0, |(cost, _)| cost).max(1) as f64;
        let able = (0..self.sets.len()).filter(|&i| {
            self.sets[i].own.is_some_and(|(cost, _)| cost < nearest[i])
                && !seeds.iter().any(|seed| seed.trained_for == [i])
        });
        // The first of equal sets wins.
        able.rev().max_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    }

    /// Assigns sets and retrains dictionaries until nothing changes, or for the maximum number of
    /// rounds.
    fn refine(&mut self, shared: &mut [SharedDictionary]) -> Result<()> {
        for _ in 0..self.options.rounds {
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

    /// Drops dictionaries that save no more than their own size, or exceed the maximum number.
    fn prune(&self, shared: &mut Vec<SharedDictionary>) {
        let costs_with: Vec<&[u64]> = shared.iter().map(|s| s.costs.as_slice()).collect();
        let bytes: Vec<u64> = shared.iter().map(|s| s.bytes.len() as u64).collect();
        let costs_without: Vec<u64> = self.sets.iter().map(|set| set.without).collect();
        let mut kept =
            prune_dictionaries(&costs_with, &costs_without, &bytes, self.options.max_count).into_iter();
        shared.retain(|_| kept.next() == Some(true));
    }

    /// Returns the best dictionary of a set, if the set is smaller with it.
    fn choice(&self, shared: &[SharedDictionary], set: usize) -> Option<usize> {
        let best = (0..shared.len()).min_by_key(|&i| (shared[i].costs[set], i));
        best.filter(|&i| shared[i].costs[set] < self.sets[set].without)
    }

    fn members(&self, shared: &[SharedDictionary]) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); shared.len()];
        for set in 0..self.sets.len() {
            if let Some(choice) = self.choice(shared, set) {
                members[choice].push(set);
            }
        }
        members
    }

    /// Returns the total costs with these dictionaries.
    fn costs(&self, shared: &[SharedDictionary]) -> Costs {
        let mut costs = Costs::default();
        for (i, set) in self.sets.iter().enumerate() {
            let cost = self.choice(shared, i).map_or(set.without, |choice| shared[choice].costs[i]);
            costs.blocks = costs.blocks.saturating_add(cost);
        }
        costs.dictionaries = shared.iter().map(|s| s.bytes.len() as u64).sum();
        costs.count = shared.len();
        costs
    }

    fn report(self, shared: Vec<SharedDictionary>, one: Costs) -> ClusteringResult {
        let set = |i: usize| {
            let MeasuredSet { bytes, without, own, .. } = self.sets[i];
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

    /// Trains a dictionary for some sets. Returns `None` if their samples do not suffice.
    fn train(&self, sets: &[usize]) -> Result<Option<Vec<u8>>> {
        let Clustering { size, small_tables, level, .. } = *self.options;
        let samples: Vec<&[u8]> = sets.iter().flat_map(|&i| &self.sets[i].split.training).copied().collect();
        let training = Training::new(size).small_tables(small_tables).level(level);
        match training.train_with_progress(&samples, self.progress) {
            Ok(dictionary) => Ok(Some(dictionary)),
            Err(error) if error.kind == Kind::BadArgument => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn shared(&self, sets: Vec<usize>) -> Result<Option<SharedDictionary>> {
        let Some(bytes) = self.train(&sets)? else { return Ok(None) };
        let costs = self.costs_with(Some(&bytes))?;
        Ok(Some(SharedDictionary { bytes, costs, trained_for: sets }))
    }

    fn cost(&self, set: usize, dictionary: Option<&CDict<'_>>) -> Result<u64> {
        let set = &self.sets[set];
        let sum = SizeMeter::new(self.options.level)?.compressed_len(&set.split.holdout, dictionary)?;
        let measured = set.split.holdout_bytes();
        (self.progress)(measured);
        Ok(extrapolate(sum, measured, set.bytes))
    }

    /// Returns the compressed size of each set with a dictionary, or without.
    fn costs_with(&self, dictionary: Option<&[u8]>) -> Result<Vec<u64>> {
        let prepared = dictionary.map(|bytes| prepare(bytes, self.options.level)).transpose()?;
        let cost = || |i| self.cost(i, prepared.as_ref());
        let costs = parallel_map(self.options.threads, 0..self.sets.len(), cost);
        costs.into_iter().collect()
    }
}
