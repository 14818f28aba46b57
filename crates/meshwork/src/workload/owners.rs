//! Owners of jobs, each stored once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::job::Owner;

pub(super) const UNKNOWN: u32 = u32::MAX;

/// Owners of jobs, numbered from 0. Each is found by a key that identifies it in the workload.
#[derive(Debug)]
pub(super) struct Owners<K> {
    numbers: BTreeMap<K, u32>,
    list: Vec<Arc<Owner>>,
}

impl<K> Default for Owners<K> {
    fn default() -> Owners<K> {
        Owners { numbers: BTreeMap::new(), list: Vec::new() }
    }
}

impl<K: Ord + Clone> Owners<K> {
    /// Number of the owner with the given key. When a key occurs for the first time, `named`
    /// creates its owner.
    pub(super) fn number(&mut self, key: K, named: impl FnOnce(K) -> Owner) -> u32 {
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let owner = named(key.clone());
        let number = if owner == Owner::default() { UNKNOWN } else { self.list.len() as u32 };
        if number != UNKNOWN {
            self.list.push(Arc::new(owner));
        }
        self.numbers.insert(key, number);
        number
    }

    pub(super) fn get(&self, number: u32) -> Option<Arc<Owner>> {
        self.list.get(number as usize).map(Arc::clone)
    }
}
