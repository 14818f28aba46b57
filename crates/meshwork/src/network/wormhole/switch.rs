//! The switch of a router, which chooses the flits that cross it in a cycle.
//!
//! At most one flit crosses from each input port, and one to each output port.

use super::bits::{Bits, first_from};

/// Switch with round robin in one iteration, like the switch allocator of BookSim 2. Each output
/// port offers itself to one input port, and each input port accepts one offer.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    ports: usize,
    channels: usize,
    /// For each lane of a router, the port to which the lane belongs.
    port_of: [u8; 64],
    /// For each output port, the input port at which round robin begins its next search. For each
    /// input port, `from_output` has the output port at which the search begins, and `from_channel`
    /// the virtual channel.
    from_input: Vec<u8>,
    from_output: Vec<u8>,
    from_channel: Vec<u8>,
}

impl Switch {
    pub(super) fn new(ports: usize, channels: usize, routers: usize) -> Switch {
        let mut port_of = [0; 64];
        for (lane, port) in port_of.iter_mut().enumerate() {
            *port = (lane / channels) as u8;
        }
        let none = vec![0; ports * routers];
        Switch {
            ports,
            channels,
            port_of,
            from_input: none.clone(),
            from_output: none.clone(),
            from_channel: none,
        }
    }

    /// Chooses the input lanes whose flits cross the switch in this cycle. `ready` has a bit for
    /// each lane with a flit to send. The chosen lanes are appended to `moves`.
    pub(super) fn choose(
        &mut self,
        router: usize,
        ready: u64,
        out: impl Fn(usize) -> u8,
        moves: &mut Vec<u8>,
    ) {
        let (mut inputs, mut outputs, mut clash) = (0_u64, 0_u64, false);
        for lane in Bits(ready) {
            let (input, output) = (self.port_of[lane], self.port_of[usize::from(out(lane))]);
            clash |= (inputs >> input | outputs >> output) & 1 != 0;
            inputs |= 1 << input;
            outputs |= 1 << output;
        }
        if !clash {
            for lane in Bits(ready) {
                self.cross(router, lane, self.port_of[usize::from(out(lane))]);
                moves.push(lane as u8);
            }
            return;
        }
        // For each output, the inputs that request it.
        let mut asked = [0_u64; 64];
        for lane in Bits(ready) {
            asked[usize::from(self.port_of[usize::from(out(lane))])] |= 1 << self.port_of[lane];
        }
        let base = router * self.ports;
        let mut offers = [0_u64; 64];
        let mut offered = 0_u64;
        for output in Bits(outputs) {
            let input = first_from(asked[output], self.from_input[base + output]);
            offers[input] |= 1 << output;
            offered |= 1 << input;
        }
        for input in Bits(offered) {
            let output = first_from(offers[input], self.from_output[base + input]);
            let first = usize::from(self.from_channel[base + input]);
            let lane = (0..self.channels)
                .map(|i| input * self.channels + (first + i) % self.channels)
                .find(|&lane| {
                    ready >> lane & 1 != 0
                        && usize::from(self.port_of[usize::from(out(lane))]) == output
                })
                .expect("an input that asks has a lane that is ready");
            self.cross(router, lane, output as u8);
            moves.push(lane as u8);
        }
    }

    /// Advances the round-robin pointers past the input, output and channel that were served.
    fn cross(&mut self, router: usize, lane: usize, output: u8) {
        let (base, input) = (router * self.ports, usize::from(self.port_of[lane]));
        let after =
            |number: usize, of: usize| (if number + 1 == of { 0 } else { number + 1 }) as u8;
        self.from_input[base + usize::from(output)] = after(input, self.ports);
        self.from_output[base + input] = after(usize::from(output), self.ports);
        self.from_channel[base + input] = after(lane - input * self.channels, self.channels);
    }
}
