//! Jobs that request blocks from a mix of shapes, taken from a production machine or a paper.

use crate::job::Request;
use crate::registry::{About, Kind, Param, Params, Problem, Words};
use crate::rng::Stream;
use crate::topology::MAX_NODES;

use super::synthetic::{
    ARRIVAL_RATE, DEMAND, LOAD, MEAN_INTERARRIVAL, RUN_TIMES, Requests, Synthetic, stream,
};
use super::{WorkloadContext, WorkloadEntry};

/// Registry entry of the workload `slices`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new(
        "slices",
        "Poisson arrivals of blocks whose shapes are a mix: of production slices \
             of TPU v4, or of RFold's study",
    )
    .definition(
        "Each job asks for a block of a shape drawn from `mix`. `tpuv4_2022` has the 26 shapes of \
         slices of a TPU v4 fleet in 2022, each as often as there; its shares, in tenths of a \
         percent, sum to 97.5, for rarer ones are not listed, and are divided by that. `rfold` has \
         the shapes that RFold's generator makes for a machine of n processors in cubes of 4: \
         sizes 1, 2 and every even number that has a shape, the i-th of m in proportion to exp(−4 \
         i / m); of up to 256 processors four lines to a sheet, of up to 1024 four sheets to a \
         block, beyond that four blocks to a sheet, and within a kind all shapes alike. Their \
         sides are even, at most n / 16 long, and touch no more cubes than there are. With \
         `longest` shapes with a longer side are left out, and the others keep their proportions. \
         Arrivals and run times are drawn as by `synthetic`, from streams of their own.",
    )
    .complexity("O(log s) for each job, with s shapes in the mix.")
    .source(
        "tpuv4_2022: Jouppi et al., TPU v4, ISCA 2023, table 2. rfold: Chen et al., RFold, arXiv \
         2510.03891, 2025, as its generator does it. Arrivals and run times are in neither",
    )
    .params(&[
        Param::new("mix", MIXES.kind())
            .is("\"tpuv4_2022\"")
            .help("which shapes, and how often each"),
        Param::new("longest", Kind::Integer(1, MAX_NODES as u64))
            .absent("all shapes of the mix")
            .help("shapes with a longer side than this are left out"),
        LOAD,
        ARRIVAL_RATE,
        MEAN_INTERARRIVAL,
        RUN_TIMES,
        DEMAND,
    ]),
    |params, setting| {
        let mix = Mix::new(params, setting)?;
        Ok(Box::new(Synthetic::new(params, setting, mix)?))
    },
)
.ends(false);

/// Function that returns shapes of blocks, each with its weight. The argument is the machine's
/// number of processors.
type Weighed = fn(u32) -> Vec<([u32; 3], f64)>;

static MIXES: Words<Weighed, 2> = Words::new([("tpuv4_2022", |_| tpu_v4_2022()), ("rfold", rfold)]);

fn tpu_v4_2022() -> Vec<([u32; 3], f64)> {
    TPU_V4_2022.iter().map(|&(shape, share)| (shape, f64::from(share))).collect()
}

/// TPU v4 slices in production in 2022, with shares in tenths of a percent. Twisted slices differ
/// from other slices only in their links, and are counted with the slices of their shape.
const TPU_V4_2022: &[([u32; 3], u32)] = &[
    ([1, 1, 1], 21),
    ([1, 1, 2], 4),
    ([1, 2, 2], 67),
    ([2, 2, 2], 47),
    ([2, 2, 4], 64),
    ([2, 4, 4], 89),
    ([4, 4, 4], 139),
    ([4, 4, 8], 175),
    ([4, 4, 12], 7),
    ([4, 8, 8], 107),
    ([4, 4, 16], 10),
    ([4, 8, 12], 1),
    ([8, 8, 8], 96),
    ([4, 8, 16], 17),
    ([4, 4, 32], 6),
    ([8, 8, 12], 7),
    ([8, 8, 16], 32),
    ([4, 16, 16], 3),
    ([4, 4, 64], 1),
    ([4, 8, 32], 1),
    ([8, 12, 16], 1),
    ([4, 4, 96], 1),
    ([8, 8, 24], 1),
    ([8, 16, 16], 17),
    ([12, 16, 16], 57),
    ([4, 4, 192], 4),
];

/// Shapes of blocks with their probabilities, ready to draw from.
struct Mix {
    shapes: Vec<[u32; 3]>,
    /// Cumulative probability of each shape.
    up_to: Vec<f64>,
    mean_nodes: f64,
    stream: Stream,
}

impl Mix {
    fn new(params: &Params, setting: &WorkloadContext<'_>) -> Result<Mix, Problem> {
        let grid = setting.largest().grid();
        let mut weighed = params.meaning("mix", &MIXES)(grid.nodes());
        let longest = params.get_integer("longest").unwrap_or(u64::MAX);
        weighed.retain(|(shape, _)| shape.iter().all(|&side| u64::from(side) <= longest));
        if weighed.is_empty() {
            let says = format!(
                "has no shape for a machine of {} processors, {}",
                grid.nodes(),
                "whose shapes have cubes of 4 x 4 x 4 to lie in"
            );
            return Err(params.refusal("mix", says));
        }
        let total: f64 = weighed.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let up_to = weighed.iter().map(|(_, weight)| {
            sum += weight / total;
            sum
        });
        let nodes = |shape: &[u32; 3]| shape.iter().map(|&side| f64::from(side)).product::<f64>();
        Ok(Mix {
            up_to: up_to.collect(),
            mean_nodes: weighed.iter().map(|(s, weight)| nodes(s) * weight / total).sum(),
            shapes: weighed.into_iter().map(|(shape, _)| shape).collect(),
            stream: stream(setting, "shapes"),
        })
    }
}

impl Requests for Mix {
    fn mean_nodes(&self) -> f64 {
        self.mean_nodes
    }

    fn draw(&mut self) -> Request {
        let at = self.stream.unit();
        let index = self.up_to.partition_point(|&up_to| up_to < at);
        Request::block(&self.shapes[index.min(self.shapes.len() - 1)])
    }
}

/// Shapes with weights, as the generator of RFold makes them, for a machine of `nodes` processors.
fn rfold(nodes: u32) -> Vec<([u32; 3], f64)> {
    let cubes = u64::from(nodes / 64);
    let longest = (4 * cubes) as u32;
    let fits = |shape: &[u32; 3]| {
        shape.iter().all(|&side| side <= longest)
            && shape.iter().map(|side| u64::from(side.div_ceil(4))).product::<u64>() <= cubes
    };
    let even = |from: u32, to: u32| (from..=to).step_by(2);
    // All lines, all sheets and all blocks of `size` nodes.
    let kinds = |size: u32| -> [Vec<[u32; 3]>; 3] {
        let lines = [[size, 1, 1]];
        let sheets =
            even(2, size).take_while(|a| a * a <= size).filter(|a| size.is_multiple_of(*a));
        let sheets = sheets.map(|a| [a, size / a, 1]).filter(|sheet| sheet[1] % 2 == 0);
        let blocks = even(2, size).take_while(|a| a * a * a <= size).flat_map(|a| {
            let rest = if size.is_multiple_of(a) { size / a } else { 0 };
            let second = even(a, rest).take_while(move |b| b * b <= rest);
            second.filter(move |b| rest % b == 0).map(move |b| [a, b, rest / b])
        });
        let blocks = blocks.filter(|block| block[2] % 2 == 0);
        [
            lines.into_iter().filter(fits).collect(),
            sheets.filter(fits).collect(),
            blocks.filter(fits).collect(),
        ]
    };
    let sizes = [1, 2].into_iter().chain(even(4, nodes));
    let all: Vec<(u32, [Vec<[u32; 3]>; 3])> = sizes
        .map(|size| (size, kinds(size)))
        .filter(|(_, kinds)| kinds.iter().any(|kind| !kind.is_empty()))
        .collect();
    let mut weighed = Vec::new();
    for (index, (size, kinds)) in all.iter().enumerate() {
        let weight = libm::exp(-4.0 * index as f64 / all.len() as f64);
        let shares = match size {
            0..=256 => [0.8, 0.2, 0.0],
            257..=1024 => [0.0, 0.8, 0.2],
            _ => [0.0, 0.2, 0.8],
        };
        let there = |kind: usize| !kinds[kind].is_empty();
        let total: f64 = (0..3).filter(|&kind| there(kind)).map(|kind| shares[kind]).sum();
        for (kind, shapes) in kinds.iter().enumerate().filter(|(kind, _)| shares[*kind] > 0.0) {
            let each = weight * shares[kind] / (total * shapes.len() as f64);
            weighed.extend(shapes.iter().map(|&shape| (shape, each)));
        }
    }
    weighed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(mix: &[([u32; 3], f64)], of: impl Fn(&[u32; 3]) -> bool) -> f64 {
        let total: f64 = mix.iter().map(|(_, weight)| weight).sum();
        mix.iter().filter(|(shape, _)| of(shape)).map(|(_, weight)| weight).sum::<f64>() / total
    }

    #[test]
    fn the_mix_of_rfold_has_its_sizes_and_kinds() {
        let mix = rfold(4096);
        let mut sizes: Vec<u32> = mix.iter().map(|(shape, _)| shape.iter().product()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        assert_eq!(sizes.len(), 482);
        let kind = |shape: &[u32; 3]| shape.iter().filter(|&&side| side > 1).count().max(1);
        let is = |wanted: usize| {
            move |shape: &[u32; 3]| match shape {
                [2, 1, 1] => wanted == 1,
                shape => kind(shape) == wanted,
            }
        };
        for (wanted, expected) in [(1, 0.604), (2, 0.290), (3, 0.106)] {
            assert!((share(&mix, is(wanted)) - expected).abs() < 6e-4, "{wanted}");
        }
        let long = share(&mix, |shape| shape.iter().any(|&side| side > 16));
        assert!((long - 0.906).abs() < 6e-4, "{long}");
        let size = |shape: &[u32; 3]| shape.iter().product::<u32>();
        assert!((share(&mix, |shape| size(shape) <= 256) - 0.669).abs() < 6e-4);
        assert!((share(&mix, |shape| size(shape) <= 1024) - 0.923).abs() < 6e-4);
        let total: f64 = mix.iter().map(|(_, weight)| weight).sum();
        let mean: f64 =
            mix.iter().map(|(shape, weight)| f64::from(size(shape)) * weight / total).sum();
        assert!((mean - 348.2).abs() < 0.06, "{mean}");
    }

    #[test]
    fn the_shares_of_production_are_those_of_the_table() {
        let total: u32 = TPU_V4_2022.iter().map(|(_, share)| share).sum();
        assert_eq!(total, 975);
        // Shapes smaller than a cube of 64 chips have 29.2 percent.
        let below: u32 =
            TPU_V4_2022.iter().filter(|(s, _)| s.iter().product::<u32>() < 64).map(|p| p.1).sum();
        assert_eq!(below, 292);
    }
}
