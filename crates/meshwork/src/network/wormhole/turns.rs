//! The cycles in which processors are asked for their next packet.

use super::Cycle;
use super::calendar::Calendar;
use super::message::{Load, Message, Turn};
use crate::topology::Node;

/// For each processor, the cycle in which the engine next asks it for a packet.
///
/// A processor that waits for a later cycle can be woken earlier. Its event for the later cycle
/// then remains in the calendar. So an event counts only if its cycle is the stored one.
#[derive(Clone, Debug)]
pub(super) struct Turns(Vec<NextTurn>);

#[derive(Clone, Copy, Debug)]
struct NextTurn {
    /// Cycle in which the processor is asked for its next packet; `Cycle::MAX` if unknown.
    at: Cycle,
    /// Whether the processor waits and can be woken. A processor that sends a packet does not wait.
    waits: bool,
}

impl Turns {
    /// Creates the schedule in which every processor waits until it is woken.
    pub(super) fn new(nodes: usize) -> Turns {
        Turns(vec![NextTurn { at: Cycle::MAX, waits: true }; nodes])
    }

    /// Wakes a processor that waits to send its next packet.
    ///
    /// Returns whether the caller must add an event for the processor in cycle `now`. No event is
    /// needed if the processor does not wait, or already has one in this cycle.
    pub(super) fn wake(&mut self, node: Node, now: Cycle) -> bool {
        let turn = &mut self.0[node as usize];
        let is_woken = turn.waits && turn.at > now;
        if is_woken {
            *turn = NextTurn { at: now, waits: false };
        }
        is_woken
    }

    /// Sets the cycle in which a processor's current packet will have left the processor
    /// completely.
    pub(super) fn leaves(&mut self, node: Node, at: Cycle) {
        self.0[node as usize] = NextTurn { at, waits: false };
    }

    /// Next message of a processor; `None` if it has none, or is not due in cycle `now`.
    ///
    /// Each processor is due at most once in a cycle. If it must be asked again in a later cycle,
    /// `event` is added to the calendar.
    pub(super) fn message(
        &mut self,
        node: Node,
        now: Cycle,
        load: &mut impl Load,
        calendar: &mut Calendar,
        event: u32,
    ) -> Option<Message> {
        let turn = &mut self.0[node as usize];
        if turn.at != now {
            return None;
        }
        *turn = NextTurn { at: Cycle::MAX, waits: false };
        match load.next(node, now) {
            Turn::Message(message) => return Some(message),
            Turn::At(later) => {
                *turn = NextTurn { at: later, waits: true };
                calendar.push(later, event);
            }
            Turn::Nothing => turn.waits = true,
        }
        None
    }
}
