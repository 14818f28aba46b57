//! Slow reference implementation of the rule of Slurm's ring topology.

use super::{Failed, Job, Misread, Set, Tried};

/// Window of a ring: consecutive nodes that a job could get, with a key to compare windows.
#[derive(Clone, Debug)]
struct Window {
    key: (u32, i64),
    nodes: Vec<u32>,
}

pub(crate) fn rule(
    rings: &[Vec<u32>],
    weights: &[u32],
    job: &Job,
    required: &Set,
    free: &Set,
    misread: Misread,
) -> Tried {
    let (count, size) = job.parts().ok_or(Failed::Never)?;
    let mut free = free.clone();
    let mut within = Set::new();
    if !required.is_empty() {
        if (required.len() as u32) >= job.nodes {
            free = free.intersection(required).copied().collect();
        } else if misread == Misread::ShortListTaken {
            within.clone_from(required);
        } else {
            return Err(Failed::Never);
        }
    }
    let best_in = |ring: &Vec<u32>, free: &Set| -> Option<Window> {
        let idle = ring.iter().filter(|node| free.contains(node)).count() as i64;
        let starts = if misread == Misread::NoWrap {
            (ring.len() + 1).saturating_sub(size as usize)
        } else {
            ring.len()
        };
        let mut best: Option<Window> = None;
        for start in (0..starts).filter(|_| size as usize <= ring.len()) {
            let nodes: Vec<u32> =
                ring.iter().cycle().skip(start).take(size as usize).copied().collect();
            if !nodes.iter().all(|node| free.contains(node))
                || !within.iter().all(|node| nodes.contains(node))
            {
                continue;
            }
            let own = nodes.iter().map(|&node| weights[node as usize]);
            let weight = match misread {
                Misread::WeightIgnored => 0,
                Misread::SumOfWeights => own.sum(),
                _ => own.max().unwrap_or(0),
            };
            let key = (weight, if misread == Misread::EmptiestRing { -idle } else { idle });
            let last = misread == Misread::LastWindow;
            if best.as_ref().is_none_or(|best| key < best.key || last && key == best.key) {
                best = Some(Window { key, nodes });
            }
        }
        best
    };
    if misread == Misread::TwoSegmentsARing {
        let mut chosen = Set::new();
        for _ in 0..count {
            let found = rings.iter().filter_map(|ring| best_in(ring, &free));
            let best = found.min_by_key(|window| window.key).ok_or(Failed::Stop)?;
            free.retain(|node| !best.nodes.contains(node));
            chosen.extend(best.nodes);
        }
        return Ok(chosen);
    }
    let found: Vec<Window> = rings.iter().filter_map(|ring| best_in(ring, &free)).collect();
    let kept = match misread {
        Misread::SortedBest => {
            let mut sorted = found;
            sorted.sort_by_key(|window| window.key);
            sorted.truncate(count as usize);
            sorted
        }
        _ => heaped(found, count as usize, misread),
    };
    if kept.len() < count as usize {
        return Err(Failed::Stop);
    }
    Ok(kept.into_iter().flat_map(|window| window.nodes).collect())
}

/// Heap of a limited number of the best windows, with the worst window at the root.
fn heaped(found: Vec<Window>, room: usize, misread: Misread) -> Vec<Window> {
    let mut heap: Vec<Window> = Vec::new();
    for window in found {
        if heap.len() < room {
            heap.push(window);
            let mut at = heap.len() - 1;
            while at > 0 && heap[at].key > heap[(at - 1) / 2].key {
                heap.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
            continue;
        }
        let replaces = match misread {
            Misread::LastRing => window.key <= heap[0].key,
            _ => window.key < heap[0].key,
        };
        if !replaces {
            continue;
        }
        heap[0] = window.clone();
        let mut at = 0;
        loop {
            // The heap compares the key that is stored in the slot, not the key of the window that
            // is moved.
            let here = if misread == Misread::CorrectHeap { window.key } else { heap[at].key };
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut worst = (here, at);
            for child in [left, right] {
                if child < heap.len() && heap[child].key > worst.0 {
                    worst = (heap[child].key, child);
                }
            }
            if worst.1 == at {
                break;
            }
            heap[at] = heap[worst.1].clone();
            at = worst.1;
        }
        heap[at] = window;
    }
    heap
}
