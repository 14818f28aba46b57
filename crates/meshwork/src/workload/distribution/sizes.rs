//! Distributions of job sizes. A draw is an integer, which measures a quantity such as a side of a
//! block.

use std::sync::Arc;

use toml::{Table, Value};

use crate::job::{Dims, Pieces, Request, WHOLE_SHARE};
use crate::registry::{
    About, Family, Kind, LARGEST, Param, Params, Problem, Range, Words, abouts, named, resolve,
    with_article,
};
use crate::rng::Stream;
use crate::topology::types::NodeTypes;
use crate::topology::{MAX_NODES, Topology, Wiring};

use super::whole::{Law, normal_cells};
use crate::workload::pieces::{of_any_table, of_table};

/// Distribution of requests on a machine of one shape, ready to draw from.
///
/// If a study gives no upper bound, the machine determines it. For sides of a block, the bounds are
/// the machine's sides, and for a square its shortest side. For a subcube the bound is half the
/// machine, and for a number of processors all of them.
///
/// ```
/// use meshwork::topology::Topology;
/// use meshwork::workload::distribution::{SIZES, Sizes};
/// let uniform = SIZES.resolve("sizes", &toml::Value::String("uniform".into())).unwrap();
/// let blocks = Sizes::new(&uniform, &Topology::mesh(&[32, 32]).unwrap()).unwrap();
/// assert_eq!(blocks.mean_nodes(), 272.25);
/// let subcubes = Sizes::new(&uniform, &Topology::hypercube(8).unwrap()).unwrap();
/// assert_eq!(subcubes.mean_nodes(), 31.875);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    form: Form,
    /// Distributions of job sizes: one for each side if blocks are drawn, otherwise a single one.
    laws: Vec<Law>,
    mean_nodes: f64,
    /// Requests for pieces with cumulative probabilities. If the list is not empty, only its
    /// requests are drawn.
    vectors: Arc<[(f64, Pieces)]>,
}

/// Quantity that a drawn integer measures, such as a side of a block or a number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The drawn integers are the sides of a block.
    Block,
    /// The drawn integer is the length of all sides of a block. The variant holds the block's
    /// number of dimensions.
    Square(usize),
    /// The drawn integer is the dimension of a subcube.
    Subcube,
    /// The drawn integer is a number of processors.
    Count,
}

/// Values of the parameter `form`. Each value has a function that makes the form for a machine with
/// a given number of dimensions.
static FORMS: Words<fn(usize) -> Form, 4> = Words::new([
    ("block", |_| Form::Block),
    ("square", Form::Square),
    ("subcube", |_| Form::Subcube),
    ("count", |_| Form::Count),
]);

impl Sizes {
    /// Creates the distribution of sizes that these parameters describe, for one machine. Bounds
    /// given by a study may exceed the machine. Then some drawn jobs can never fit. Each of them is
    /// refused on arrival.
    ///
    /// # Errors
    /// A contradiction between the parameters, or with the machine, in one sentence.
    pub fn new(params: &Params, machine: &Topology) -> Result<Sizes, Problem> {
        Sizes::on_sites(params, machine, std::slice::from_ref(machine))
    }

    /// Creates the distribution like [`Sizes::new`], but for several sites, the largest being
    /// `machine`. If requests are for pieces, they may be for any of the sites.
    pub(crate) fn on_sites(
        params: &Params,
        machine: &Topology,
        sites: &[Topology],
    ) -> Result<Sizes, Problem> {
        let grid = machine.grid();
        if params.name() == VECTORS.about.name {
            return vectors(params, sites);
        }
        let form = form(params, machine)?;
        let cube = grid.nodes().ilog2();
        let most: Vec<u32> = match form {
            Form::Block => grid.sides().to_vec(),
            Form::Square(_) => vec![grid.sides().iter().copied().min().unwrap_or(1)],
            Form::Subcube => vec![cube.saturating_sub(1)],
            Form::Count => vec![grid.nodes()],
        };
        let build = params.entry::<SizeEntry>().build;
        let laws = (0..most.len())
            .map(|side| {
                let least = if form == Form::Subcube { 0 } else { 1 };
                let own = SizeRange { params, form, side, of: most.len(), least, most: most[side] };
                let law = build.law(&own)?;
                own.check(&law)?;
                // Otherwise the workload would continue for ever without a job that could start.
                let smallest = law.bounds().0;
                if form == Form::Subcube && smallest > cube {
                    let says = format!(
                        "the smallest size of `{}` is {smallest}, but the largest subcube of the \
                         machine has dimension {cube}",
                        params.path()
                    );
                    return Err(
                        params.problem(if params.has("value") { "value" } else { "min" }, says)
                    );
                }
                Ok(law)
            })
            .collect::<Result<Vec<Law>, Problem>>()?;
        let mean_nodes = match form {
            Form::Block => laws.iter().map(Law::mean).product(),
            Form::Square(dimensions) => laws[0]
                .expect(|side| (0..dimensions).fold(1.0, |product, _| product * f64::from(side))),
            Form::Subcube => laws[0].expect(|dimension| libm::exp2(f64::from(dimension))),
            Form::Count => laws[0].mean(),
        };
        Ok(Sizes { form, laws, mean_nodes, vectors: Arc::new([]) })
    }

    /// Exact mean of the number of requested processors, from which the load is computed.
    ///
    /// If requests for pieces are drawn, the scarcest resource determines the mean. For each
    /// resource, the mean amount of a request is divided by the amount of the whole machine. The
    /// largest quotient is multiplied by the machine's number of cores.
    #[must_use]
    pub fn mean_nodes(&self) -> f64 {
        self.mean_nodes
    }

    /// Requests with which to check that the machine supports all requests that can be drawn.
    ///
    /// If blocks are drawn, not every block is returned. A returned block has one drawn side, and
    /// all its other sides are 1. Together the blocks contain every integer that can be drawn for a
    /// side. Requests of other kinds are all returned.
    pub fn samples(&self) -> impl Iterator<Item = Request> {
        let vectors = Arc::clone(&self.vectors);
        let vectors = (0..vectors.len()).map(move |at| Request::pieces(vectors[at].1.clone()));
        let (form, sides) = (self.form, self.laws.len());
        let numbers = self
            .laws
            .iter()
            .enumerate()
            .flat_map(|(side, law)| law.numbers().map(move |number| (side, number)));
        let numbers = numbers.map(move |(side, number)| match form {
            Form::Block => {
                Request::Block((0..sides).map(|own| if own == side { number } else { 1 }).collect())
            }
            Form::Square(dimensions) => Request::Block(Dims::from_elem(number, dimensions)),
            Form::Subcube => Request::Subcube(number),
            Form::Count => Request::Nodes(number),
        });
        numbers.chain(vectors)
    }

    /// Number of random streams that a draw needs: one for each independently drawn side.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.laws.len().max(1)
    }

    /// Draws one request; takes one number of each stream.
    ///
    /// # Panics
    /// If there are fewer streams than [`Sizes::streams`].
    pub fn draw(&self, streams: &mut [Stream]) -> Request {
        if let [.., last] = &*self.vectors {
            let unit = streams[0].unit();
            let drawn = self.vectors.iter().find(|(up_to, _)| unit < *up_to);
            return Request::pieces(drawn.unwrap_or(last).1.clone());
        }
        match self.form {
            Form::Block => {
                assert!(streams.len() >= self.laws.len(), "a stream for each side");
                let sides: Dims =
                    self.laws.iter().zip(streams).map(|(law, stream)| law.draw(stream)).collect();
                Request::Block(sides)
            }
            Form::Square(dimensions) => {
                let side = self.laws[0].draw(&mut streams[0]);
                Request::Block(Dims::from_elem(side, dimensions))
            }
            Form::Subcube => Request::Subcube(self.laws[0].draw(&mut streams[0])),
            Form::Count => Request::Nodes(self.laws[0].draw(&mut streams[0])),
        }
    }
}

/// The distribution of the requests for pieces that a study lists, each with its share of jobs.
fn vectors(params: &Params, sites: &[Topology]) -> Result<Sizes, Problem> {
    if params.has("form") {
        return Err(params.refusal("form", "is of counts and sides, and pieces have none"));
    }
    let tables = params.get_tables("of").unwrap_or_default();
    let total: f64 = tables.iter().map(|table| table.number("share")).sum();
    if tables.is_empty() || total < 1e-9 {
        return Err(params.refusal("of", "needs a table with a share above 0"));
    }
    let (mut all, mut sum, mut means) = (Vec::new(), 0.0, [0.0; 4]);
    for table in &tables {
        let pieces = of_table(table, sites)?;
        let share = table.number("share") / total;
        sum += share;
        for piece in &pieces.roles {
            let gpus = f64::from(piece.gpu) * f64::from(piece.share) / f64::from(WHOLE_SHARE);
            let each = [f64::from(piece.cpu), f64::from(piece.mem), gpus, f64::from(piece.other)];
            for (mean, each) in means.iter_mut().zip(each) {
                *mean += share * f64::from(piece.count) * each;
            }
        }
        all.push((sum, pieces));
    }
    let own = NodeTypes::totals_of(sites);
    let shares = means.iter().zip(own).filter(|(_, own)| *own > 0);
    let scarcest = shares.map(|(mean, own)| mean / own as f64).fold(0.0, f64::max);
    let mean_nodes = scarcest * own[0] as f64;
    Ok(Sizes { form: Form::Count, laws: Vec::new(), mean_nodes, vectors: all.into() })
}

fn form(params: &Params, machine: &Topology) -> Result<Form, Problem> {
    let grid = machine.grid();
    let own = match machine.wiring() {
        Wiring::Mesh | Wiring::Torus => Form::Block,
        Wiring::Hypercube => Form::Subcube,
        _ => Form::Count,
    };
    let given = params.get_meaning("form", &FORMS).map_or(own, |form| form(grid.dimensions()));
    if !machine.wiring().is_grid() && given != Form::Count {
        let given = params.get_text("form").unwrap_or_default();
        let says = format!(
            "is \"{given}\", but {} hands out processors by count only (form = \"count\")",
            match machine.wiring() {
                Wiring::Flat => "a flat machine".to_owned(),
                _ => with_article(machine),
            }
        );
        return Err(params.refusal("form", says));
    }
    Ok(given)
}

/// Parameters and default bounds of a drawn integer. The integer is a side of a block or a job's
/// whole size.
pub struct SizeRange<'a> {
    /// Parameters of the distribution.
    pub params: &'a Params,
    form: Form,
    side: usize,
    of: usize,
    /// Smallest valid integer: 0 if the integer is the dimension of a subcube, otherwise 1.
    pub least: u32,
    /// Upper bound of drawn integers on the largest site, if the study gives none. A study may give
    /// a larger bound.
    pub most: u32,
}

impl SizeRange<'_> {
    /// The value of a parameter for one side of a block. The parameter is a single number for all
    /// sides, or a list with one number for each side.
    fn get(&self, key: &str) -> Result<Option<u32>, Problem> {
        let Some(list) = self.params.get_integers(key) else { return Ok(None) };
        match list.len() {
            1 => Ok(Some(list[0])),
            given if given == self.of => Ok(Some(list[self.side])),
            given => {
                let wanted = match self.form {
                    Form::Block => {
                        format!("one, or {} for the dimensions of the largest site", self.of)
                    }
                    Form::Square(_) => "one for the side of a square".to_owned(),
                    Form::Subcube => "one for the dimension of a subcube".to_owned(),
                    Form::Count => "one for the count of processors".to_owned(),
                };
                Err(self
                    .params
                    .refusal(key, format!("has {given} numbers, but must have {wanted}")))
            }
        }
    }

    fn bounds(&self) -> Result<(u32, u32), Problem> {
        let min = self.get("min")?.unwrap_or(self.least);
        let max = self.get("max")?.unwrap_or_else(|| self.most_of_share());
        if min > max
            && let Some(share) = self.params.get_number("max_share")
        {
            let says = format!(
                "is {share}, but must leave the largest size at least the smallest, {min}: of {} \
                 it leaves {max}",
                self.most
            );
            return Err(self.params.refusal("max_share", says));
        }
        if min > max {
            let own = if self.params.has("max") { "" } else { " on this machine" };
            let says = format!(
                "is {min}, but must be at most `{}.max`, which is {max}{own}",
                self.params.path()
            );
            return Err(self.params.refusal("min", says));
        }
        Ok((min, max))
    }

    /// Default upper bound of drawn integers: the machine's bound times the parameter `max_share`.
    fn most_of_share(&self) -> u32 {
        let share = self.params.get_number("max_share").unwrap_or(1.0);
        libm::floor(share * f64::from(self.most)) as u32
    }

    /// Checks that all integers that can be drawn are valid sizes.
    fn check(&self, law: &Law) -> Result<(), Problem> {
        let (min, max) = law.bounds();
        let path = self.params.path();
        if min < self.least {
            let says = format!(
                "the smallest size of `{path}` is {min}, but must be at least {}",
                self.least
            );
            return Err(self
                .params
                .problem(if self.params.has("value") { "value" } else { "min" }, says));
        }
        let most = if self.form == Form::Subcube { MAX_NODES.ilog2() } else { MAX_NODES };
        if max > most {
            let says = format!("the largest size of `{path}` is {max}, but must be at most {most}");
            return Err(self
                .params
                .problem(if self.params.has("value") { "value" } else { "max" }, says));
        }
        Ok(())
    }
}

/// Registry entry of a distribution of sizes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SizeEntry {
    /// Name, documentation and parameters of the distribution.
    pub about: About,
    build: Build,
}

impl SizeEntry {
    /// Creates the entry of a distribution of sizes that is given by the weight of each size.
    ///
    /// The function `weights` returns the smallest size, and the weights of this size and of the
    /// sizes that follow it. Weights need not sum to 1.
    #[must_use]
    pub const fn new(
        about: About,
        weights: fn(&SizeRange<'_>) -> Result<(u32, Vec<f64>), Problem>,
    ) -> SizeEntry {
        SizeEntry { about, build: Build::Weights(weights) }
    }
}

/// Way to build the distribution of one integer, either directly or from weights of its values.
#[derive(Clone, Copy)]
enum Build {
    Law(fn(&SizeRange<'_>) -> Result<Law, Problem>),
    Weights(fn(&SizeRange<'_>) -> Result<(u32, Vec<f64>), Problem>),
}

impl Build {
    fn law(self, range: &SizeRange<'_>) -> Result<Law, Problem> {
        let (min, weights) = match self {
            Build::Law(build) => return build(range),
            Build::Weights(build) => build(range)?,
        };
        let is_weight = |weight: &f64| *weight >= 0.0 && *weight <= LARGEST;
        let total: f64 = weights.iter().sum();
        let is_bounded = min <= MAX_NODES && weights.len() <= MAX_NODES as usize;
        if is_bounded && weights.iter().all(is_weight) && total > 0.0 {
            return Ok(Law::weights(min, &weights));
        }
        let path = range.params.path();
        let what = format!(
            "the distribution of sizes `{}` must give weights of sizes up to {MAX_NODES}, numbers from 0 to 1e15 of \
             which one is above 0",
            range.params.name()
        );
        Err(Problem::new(path, what))
    }
}

named!(SizeEntry);

/// The family of distributions of sizes, from which a study selects one by name.
pub static SIZES: Family = Family {
    kind: "distribution of sizes",
    key: "name",
    entries: || abouts(SIZE_DISTRIBUTIONS),
    common: &[Param::new("form", FORMS.kind())
        .absent("block on a mesh or torus, subcube on a hypercube, count on a flat machine")
        .help(
            "what is drawn: each side of a block, the side of a square, the dimension of a \
             subcube, or a count of processors",
        )],
};

/// All distributions of sizes of this crate.
pub static SIZE_DISTRIBUTIONS: &[&SizeEntry] =
    &[&UNIFORM, &NORMAL, &DISCRETE, &EXPONENTIAL, &CONSTANT, &VECTORS];

static VECTORS: SizeEntry = SizeEntry {
    about: About::new(
        "vectors",
        "pieces with cores, memory and GPUs, for machines whose nodes jobs share",
    )
    .definition(
        "Each job is one of the tables of `of`, drawn by their shares. A load is that of \
             the kind of which jobs need the largest share of the machine.",
    )
    .complexity("O(k) for each job, with k tables.")
    .source("general")
    .params(&[Param::new("of", Kind::Tables(PIECES)).help(
        "what jobs ask for, in the columns of a table of jobs, each with its share of the \
                 jobs",
    )]),
    build: Build::Law(|own| Err(own.params.problem("of", "pieces have no sides"))),
};

/// Reads a request for pieces from a table of keys and values in a study. A key is the name of a
/// column of a table of jobs, and its value is a cell of this column. Fails if the machine's nodes
/// have no types. If `must_fit` is true, fails also if the pieces fit on no node.
pub(crate) fn of_columns(
    columns: &Table,
    machine: &Topology,
    must_fit: bool,
) -> Result<Pieces, Problem> {
    // A share weighs one request among those that are drawn, and so is no property of pieces.
    let params: Vec<&Param> = PIECES.iter().filter(|param| param.name != "share").collect();
    let mut columns = columns.clone();
    // A study and a table of jobs write two of the values differently.
    if let Some(per_node) = columns.get("per_node").and_then(Value::as_integer) {
        columns.insert("per_node".to_owned(), per_node.to_string().into());
    }
    if columns.get("exclusive").and_then(Value::as_str) == Some("node") {
        columns.insert("exclusive".to_owned(), true.into());
    }
    let read = if must_fit { of_table } else { of_any_table };
    read(&resolve("pieces", &params, &columns, &[])?, std::slice::from_ref(machine))
}

static PIECES: &[Param] = &[
    Param::new("share", Kind::Number(Range::NonNegative))
        .is("1.0")
        .help("how often such jobs come, in any unit"),
    Param::new("pieces", Kind::Integer(1, u32::MAX as u64))
        .absent("1")
        .help("how many pieces each has"),
    Param::new("cpu", Kind::Integer(1, 1 << 30)).absent("1").help("cores of each piece"),
    Param::new("mem", Kind::Integer(0, 1 << 30)).absent("0").help("memory of each piece in MiB"),
    Param::new("gpu", Kind::Number(Range::NonNegative))
        .absent("0")
        .help("how many GPUs each piece gets, or a part of one, such as 0.5"),
    Param::new("other", Kind::Integer(0, 1 << 30))
        .absent("0")
        .help("what each piece gets of the fourth kind"),
    Param::new("per_node", Kind::Text).absent("no limit").help(
        "the most pieces on one node, such as \"4\", or the fewest and the most, such as \
             \"2-4\"",
    ),
    Param::new("inside", Kind::Choice(&["island", "node", "leaf", "block"]))
        .absent("anywhere")
        .help("what must hold all pieces of a job"),
    Param::new("type", Kind::Text)
        .absent("any")
        .help("the types of nodes or GPUs, or the features, that a job may have, separated by `|`"),
    Param::new("exclusive", Kind::Flag)
        .is("false")
        .help("whether no other job may be on its nodes"),
    Param::new("roles", Kind::Text).absent("pieces of one kind").help(
        "pieces of several kinds, such as \"1*cpu=4+8*cpu=16,gpu=1\", instead of the keys for \
             one",
    ),
];

const MAX_SIZE: u64 = MAX_NODES as u64;

const MIN: Param = Param::new("min", Kind::Integers(0, MAX_SIZE))
    .absent("1; 0 for a subcube")
    .help("the smallest size: one number, or one for each side of a block");

const MAX: Param = Param::new("max", Kind::Integers(0, MAX_SIZE))
    .absent(
        "of the largest site: the sides, the shortest side, the dimension less 1, all processors",
    )
    .help("the largest size: one number, or one for each side of a block");

static UNIFORM: SizeEntry = SizeEntry {
    about: About::new("uniform", "every size from `min` to `max` equally often")
        .definition(
            "Every whole number from `min` to `max` has the same probability; each \
             side of a block is drawn by itself.",
        )
        .complexity("O(1) for a draw.")
        .source("Chang & Mohapatra; Zhu & Lin; Mohapatra, Yu, Das & Kim; Al-Kerboly")
        .params(&[
            MIN,
            MAX,
            Param::new("max_share", Kind::Number(Range::Inside)).absent("the whole of it").help(
                "the largest size as a share of what `max` is when it is left out, rounded \
                     down",
            ),
        ]),
    build: Build::Law(|side| {
        if side.params.has("max") && side.params.has("max_share") {
            let says = format!(
                "both `{0}.max` and `{0}.max_share` are given, but the one excludes the other",
                side.params.path()
            );
            return Err(side.params.problem("max_share", says));
        }
        let (min, max) = side.bounds()?;
        Ok(Law::Uniform { min, max })
    }),
};

static NORMAL: SizeEntry = SizeEntry {
    about: About::new(
        "normal",
        "middle sizes most often: the normal distribution within 2.5 standard \
             deviations, cut into equal cells, one for each size",
    )
    .definition(
        "The normal distribution is cut at 2.5 standard deviations from its mean \
             and divided into as many cells of equal width as there are sizes; a size \
             has the probability of its cell. Middle sizes are most common.",
    )
    .complexity("O(log m) for a draw of m sizes.")
    .source("Chang & Mohapatra; Mohapatra, Yu, Das & Kim")
    .params(&[
        MIN,
        MAX,
        Param::new("cells", CELLS.kind()).is("\"printed\"").help(
            "printed: for 8 and for 10 sizes the three digits that the papers print; computed: \
                 all digits",
        ),
    ]),
    build: Build::Law(|side| {
        let (min, max) = side.bounds()?;
        let cells = max - min + 1;
        let printed = side.params.meaning("cells", &CELLS);
        Ok(match cells {
            8 if printed => Law::weights(min, &mirrored(&[0.025, 0.076, 0.162, 0.237])),
            10 if printed => Law::weights(min, &mirrored(&[0.017, 0.044, 0.093, 0.152, 0.194])),
            _ => Law::weights(min, &normal_cells(cells)),
        })
    }),
};

/// Values of the parameter `cells`: `printed` (here `true`) and `computed` (here `false`). They
/// select the probabilities of normally distributed sizes: as printed in papers, or computed.
static CELLS: Words<bool, 2> = Words::new([("printed", true), ("computed", false)]);

fn mirrored(half: &[f64]) -> Vec<f64> {
    half.iter().chain(half.iter().rev()).copied().collect()
}

static DISCRETE: SizeEntry = SizeEntry {
    about: About::new("discrete", "sizes with the probabilities that are given")
        .definition("The sizes `min`, `min` + 1 and so on have the probabilities that are given.")
        .complexity("O(log m) for a draw of m sizes.")
        .source("general")
        .params(&[
            Param::new("probabilities", Kind::Numbers(Range::Share))
                .help("the probability of `min`, of `min` + 1 and so on; their sum is 1"),
            MIN,
        ]),
    build: Build::Law(|side| {
        let weights = side.params.numbers("probabilities");
        let total: f64 = weights.iter().sum();
        if (total - 1.0).abs() > 1e-6 {
            let says = format!(
                "the sum of `{}.probabilities` is {total}, but must be 1",
                side.params.path()
            );
            return Err(side.params.problem("probabilities", says));
        }
        Ok(Law::weights(side.get("min")?.unwrap_or(side.least), &weights))
    }),
};

static EXPONENTIAL: SizeEntry = SizeEntry {
    about: About::new(
        "exponential",
        "small sizes most often: an exponential number rounded up, drawn again \
             while it is not from `min` to `max`",
    )
    .definition(
        "An exponential number is rounded up, and drawn again while it is not from `min` to `max`.",
    )
    .complexity("O(log m) for a draw of m sizes.")
    .source("Al-Kerboly")
    .params(&[
        Param::new("mean", Kind::Number(Range::Positive)).help(
            "the mean before rounding and drawing again; the load counts with the mean after \
                 it",
        ),
        Param::new("min", Kind::Integers(1, MAX_SIZE))
            .is("1")
            .help("the smallest size: one number, or one for each side of a block"),
        MAX,
    ]),
    build: Build::Law(|side| {
        let (min, max) = side.bounds()?;
        Ok(Law::Exponential { mean: side.params.number("mean"), min, max })
    }),
};

static CONSTANT: SizeEntry = SizeEntry {
    about: About::new("constant", "every job asks for the same")
        .definition("Every job asks for `value`.")
        .complexity("O(1) for a draw.")
        .source("general")
        .params(&[Param::new("value", Kind::Integers(0, MAX_SIZE))
            .help("the size: one number, or one for each side of a block")]),
    build: Build::Law(|side| {
        let value = side.get("value")?.unwrap_or(side.least);
        Ok(Law::Uniform { min: value, max: value })
    }),
};

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    fn made(given: &str, machine: &Topology) -> Result<Sizes, Problem> {
        let table: Table = given.parse().unwrap();
        Sizes::new(&SIZES.resolve("sizes", &table.into())?, machine)
    }

    fn mesh(sides: &[u32]) -> Topology {
        Topology::mesh(sides).unwrap()
    }

    fn cube(dimension: u32) -> Topology {
        Topology::hypercube(dimension).unwrap()
    }

    #[test]
    fn mean_sizes_and_rates_of_the_papers() {
        let torus = Topology::torus(&[8, 8, 8]).unwrap();
        let printed_8 = "name = 'discrete'\n\
                         probabilities = [0.025, 0.076, 0.162, 0.237, 0.237, 0.162, 0.076, 0.025]";
        for (given, machine, mean, rate) in [
            ("name = 'uniform'", &cube(8), 31.875, 1.60627),
            ("name = 'normal'", &cube(8), 19.761, 2.59096),
            (printed_8, &cube(8), 19.761, 2.59096),
            ("name = 'uniform'\nform = 'square'", &mesh(&[32, 32]), 357.5, 0.57287),
            ("name = 'uniform'", &mesh(&[32, 32]), 272.25, 0.75225),
            ("name = 'uniform'", &cube(10), 102.3, 2.00196),
            ("name = 'normal'", &cube(10), 52.605, 3.89316),
            ("name = 'uniform'\nform = 'count'", &torus, 256.5, 512.0 / (256.5 * 5.0)),
            (
                "name = 'uniform'\nmax = 100",
                &mesh(&[200, 200]),
                50.5 * 50.5,
                40_000.0 / (50.5 * 50.5 * 5.0),
            ),
            (
                "name = 'uniform'\nmax_share = 0.5",
                &mesh(&[200, 200]),
                50.5 * 50.5,
                40_000.0 / (50.5 * 50.5 * 5.0),
            ),
            ("name = 'uniform'\nmax = [3, 5]", &mesh(&[8, 8]), 6.0, 64.0 / 30.0),
            ("name = 'constant'\nvalue = [3, 5]", &mesh(&[8, 8]), 15.0, 64.0 / 75.0),
            ("name = 'uniform'", &Topology::flat(128).unwrap(), 64.5, 128.0 / (64.5 * 5.0)),
        ] {
            let sizes = made(given, machine).unwrap();
            assert!(
                (sizes.mean_nodes() - mean).abs() < 1e-9 * mean,
                "{given}: {}",
                sizes.mean_nodes()
            );
            let got = f64::from(machine.grid().nodes()) / (sizes.mean_nodes() * 5.0);
            assert!((got - rate).abs() < 1e-5, "{given}: {got}");
        }
    }

    #[test]
    fn cells_of_the_normal_distribution_with_all_digits() {
        let computed = made("name = 'normal'\ncells = 'computed'", &cube(8)).unwrap();
        assert!((computed.mean_nodes() - 19.724).abs() < 5e-3, "{}", computed.mean_nodes());
    }

    #[test]
    fn forms_follow_the_machine() {
        let draw = |given: &str, machine: &Topology| {
            let sizes = made(given, machine).unwrap();
            let mut streams: Vec<Stream> =
                (0..sizes.streams()).map(|i| Stream::new(1, 0, &format!("sizes.{i}"))).collect();
            (streams.len(), sizes.draw(&mut streams))
        };
        let value = "name = 'constant'\nvalue = 2";
        assert_eq!(draw(value, &mesh(&[4, 4])), (2, Request::block(&[2, 2])));
        assert_eq!(
            draw(value, &Topology::torus(&[4, 4, 4]).unwrap()),
            (3, Request::block(&[2, 2, 2]))
        );
        assert_eq!(draw(value, &cube(4)), (1, Request::Subcube(2)));
        assert_eq!(draw(value, &Topology::flat(9).unwrap()), (1, Request::Nodes(2)));
        let form = |form: &str| format!("{value}\nform = '{form}'");
        assert_eq!(draw(&form("square"), &mesh(&[4, 4, 4])), (1, Request::block(&[2, 2, 2])));
        assert_eq!(draw(&form("count"), &mesh(&[4, 4])), (1, Request::Nodes(2)));
        assert_eq!(draw(&form("subcube"), &mesh(&[4, 4])), (1, Request::Subcube(2)));
        assert_eq!(draw(&form("block"), &cube(2)), (2, Request::block(&[2, 2])));
    }

    #[test]
    fn contradictions_are_refused_in_a_sentence() {
        for (given, machine, sentence) in [
            (
                "name = 'uniform'\nmax = [1, 2, 3]",
                mesh(&[4, 4]),
                "`sizes.max` has 3 numbers, but must have one, or 2 for the dimensions of the \
                 largest site",
            ),
            (
                "name = 'uniform'\nform = 'square'\nmax = [1, 2]",
                mesh(&[4, 4]),
                "`sizes.max` has 2 numbers, but must have one for the side of a square",
            ),
            (
                "name = 'uniform'\nmin = 5",
                mesh(&[8, 4]),
                "`sizes.min` is 5, but must be at most `sizes.max`, which is 4 on this machine",
            ),
            (
                "name = 'constant'\nvalue = 5",
                cube(4),
                "the smallest size of `sizes` is 5, but the largest subcube of the machine has \
                 dimension 4",
            ),
            (
                "name = 'uniform'\nmin = 0",
                mesh(&[8, 4]),
                "the smallest size of `sizes` is 0, but must be at least 1",
            ),
            (
                "name = 'constant'\nvalue = 25",
                cube(4),
                "the largest size of `sizes` is 25, but must be at most 24",
            ),
            (
                "name = 'discrete'\nprobabilities = [0.5, 0.25]",
                cube(4),
                "the sum of `sizes.probabilities` is 0.75, but must be 1",
            ),
            (
                "name = 'uniform'\nform = 'block'",
                Topology::flat(8).unwrap(),
                "`sizes.form` is \"block\", but a flat machine hands out processors by count only \
                 (form = \"count\")",
            ),
        ] {
            assert_eq!(made(given, &machine).unwrap_err().message, sentence);
        }
    }

    #[test]
    fn a_machine_of_one_processor_has_sizes_too() {
        let sizes = made("name = 'uniform'", &cube(1)).unwrap();
        assert_eq!(sizes.mean_nodes(), 1.0);
        assert_eq!(made("name = 'uniform'", &mesh(&[1])).unwrap().mean_nodes(), 1.0);
    }
}
