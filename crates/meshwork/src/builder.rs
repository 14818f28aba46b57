//! Builders of scenarios and pools in Rust. They make the table that a study in TOML would contain.

use std::marker::PhantomData;

use toml::{Table, Value};

use crate::catalogue::Catalogue;
use crate::pool::Pool;
use crate::registry::Problem;
use crate::scenario::Scenario;

/// A component of a study, such as an allocator or a workload: its name and its parameters.
///
/// Parameters that are not set have their defaults.
///
/// ```
/// use meshwork::builder::Component;
/// let plain = Component::from("first_fit");
/// let set = Component::new("first_fit").with("rotation", "if_needed");
/// assert_ne!(plain, set);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Component(Value);

impl Component {
    /// The component with this name, with all its parameters at their defaults.
    #[must_use]
    pub fn new(name: &str) -> Component {
        Component(Value::Table(Table::from_iter([("name".to_owned(), name.into())])))
    }

    /// Sets one more parameter. The component's page in the manual lists all parameters.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Component {
        let mut table = match self.0 {
            Value::Table(table) => table,
            name => Table::from_iter([("name".to_owned(), name)]),
        };
        table.insert(key.to_owned(), value.into());
        self.0 = Value::Table(table);
        self
    }
}

impl From<&str> for Component {
    fn from(name: &str) -> Component {
        Component(name.into())
    }
}

impl From<Table> for Component {
    fn from(table: Table) -> Component {
        Component(Value::Table(table))
    }
}

impl From<Component> for Value {
    fn from(component: Component) -> Value {
        component.0
    }
}

/// One site of a machine: its topology, and its own speed and allocator if set.
///
/// ```
/// use meshwork::builder::Machine;
/// let fast = Machine::torus([8, 8, 8]).speed(2.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Machine(Table);

impl Machine {
    /// A mesh with these sides.
    #[must_use]
    pub fn mesh(sides: impl AsRef<[u32]>) -> Machine {
        Machine::named("mesh").with("dims", sides.as_ref().to_vec())
    }

    /// A torus with these sides.
    #[must_use]
    pub fn torus(sides: impl AsRef<[u32]>) -> Machine {
        Machine::named("torus").with("dims", sides.as_ref().to_vec())
    }

    /// A hypercube of this dimension *d*, with 2ᵈ processors.
    #[must_use]
    pub fn hypercube(dimension: u32) -> Machine {
        Machine::named("hypercube").with("dimension", dimension)
    }

    /// A flat machine: interchangeable processors behind one switch.
    #[must_use]
    pub fn flat(processors: u32) -> Machine {
        Machine::named("flat").with("processors", processors)
    }

    /// A machine whose topology has this name in the catalogue.
    #[must_use]
    pub fn named(topology: &str) -> Machine {
        Machine(Table::from_iter([("topology".to_owned(), topology.into())]))
    }

    /// Sets one more parameter of the site's topology.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Machine {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the speed of the site, relative to the machine on which the workload was measured.
    #[must_use]
    pub fn speed(self, speed: f64) -> Machine {
        self.with("speed", speed)
    }

    /// Sets the allocator of this site. It takes precedence over the allocator of the scenario.
    #[must_use]
    pub fn allocator(self, allocator: impl Into<Component>) -> Machine {
        self.with("allocator", allocator.into())
    }
}

/// Builder of a scenario or a pool: see [`Scenario::builder`] and [`Pool::builder`].
///
/// Omitted settings have the defaults of a study. Nothing is checked before `build`.
#[derive(Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder<T> {
    table: Table,
    catalogue: Option<Catalogue>,
    builds: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    fn new() -> Self {
        Builder { table: Table::new(), catalogue: None, builds: PhantomData }
    }

    /// Sets the machine to a mesh with these sides.
    pub fn mesh(self, sides: impl AsRef<[u32]>) -> Self {
        self.machine(Machine::mesh(sides))
    }

    /// Sets the machine to a torus with these sides.
    pub fn torus(self, sides: impl AsRef<[u32]>) -> Self {
        self.machine(Machine::torus(sides))
    }

    /// Sets the machine to a hypercube of this dimension.
    pub fn hypercube(self, dimension: u32) -> Self {
        self.machine(Machine::hypercube(dimension))
    }

    /// Sets the machine to a flat one with this number of processors.
    pub fn flat(self, processors: u32) -> Self {
        self.machine(Machine::flat(processors))
    }

    /// Sets the machine.
    pub fn machine(self, machine: Machine) -> Self {
        self.set("machine", machine.0)
    }

    /// Sets the machine to a [preset](crate::presets), which includes its allocator.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// use meshwork::pool::Pool;
    /// let mut pool = Pool::builder().preset("tpu_v4").build()?;
    /// assert_eq!(pool.allocate(&Request::block(&[4, 4, 8])).map(|slice| slice.len()), Some(128));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn preset(self, name: &str) -> Self {
        self.set("machine", name)
    }

    /// Sets the allocator; the default is `first_fit`, or `naive` on a flat machine.
    pub fn allocator(self, allocator: impl Into<Component>) -> Self {
        self.set("allocator", allocator.into())
    }

    /// Sets the seed from which all random numbers follow; the default is 1.
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", whole(seed))
    }

    /// Sets any key of a study, in place of an earlier value; dots separate nested tables.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        put(&mut self.table, key, value.into());
        self
    }

    /// Sets the catalogue in which names are looked up; the default is the standard catalogue.
    pub fn catalogue(mut self, catalogue: &Catalogue) -> Self {
        self.catalogue = Some(catalogue.clone());
        self
    }

    /// The table with all keys that have been set until now, as a study would contain it.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Checks that a machine is set, and passes the finished table to a function that reads it.
    fn lower(
        self,
        what: &str,
        read: fn(&Catalogue, &Table) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if !self.table.contains_key("machine") {
            let says = format!(
                "this {what} has no machine: give it one with `mesh`, `torus`, `hypercube`, `flat` or \
                 `machine`"
            );
            return Err(Problem::new("machine", says));
        }
        read(&self.catalogue.unwrap_or_else(Catalogue::standard), &self.table)
    }
}

impl Scenario {
    /// A builder of a scenario, as an alternative to reading a table.
    ///
    /// ```
    /// use meshwork::builder::Component;
    /// use meshwork::scenario::Scenario;
    ///
    /// let scenario = Scenario::builder()
    ///     .mesh([16, 16])
    ///     .allocator(Component::new("first_fit").with("rotation", "if_needed"))
    ///     .scheduler("easy")
    ///     .workload(
    ///         Component::new("synthetic")
    ///             .with("load", 0.4)
    ///             .with("sizes", "uniform")
    ///             .with("runtimes", Component::new("exponential").with("mean", 5.0)),
    ///     )
    ///     .warmup_jobs(100)
    ///     .jobs(2000)
    ///     .metrics(["wait", "utilization"])
    ///     .build()?;
    /// assert_eq!(scenario.topologies()[0].grid().nodes(), 256);
    ///
    /// let forgotten = Scenario::builder().workload("lublin").build().unwrap_err();
    /// assert!(forgotten.message.starts_with("this scenario has no machine"));
    /// # Ok::<(), meshwork::registry::Problem>(())
    /// ```
    pub fn builder() -> Builder<Scenario> {
        Builder::new()
    }
}

impl Builder<Scenario> {
    /// Sets several sites, in the order in which the selector `first_fit` tries them.
    pub fn sites(self, sites: impl IntoIterator<Item = Machine>) -> Self {
        let sites: Vec<Table> = sites.into_iter().map(|site| site.0).collect();
        self.set("machine", Table::from_iter([("sites".to_owned(), sites.into())]))
    }

    /// Sets the workload, which is the source of jobs.
    pub fn workload(self, workload: impl Into<Component>) -> Self {
        self.set("workload", workload.into())
    }

    /// Sets the scheduler, which decides which waiting jobs start; the default is `fcfs`.
    pub fn scheduler(self, scheduler: impl Into<Component>) -> Self {
        self.set("scheduler", scheduler.into())
    }

    /// Sets the selector, which decides on which site a job runs; the default is `first_fit`.
    pub fn selector(self, selector: impl Into<Component>) -> Self {
        self.set("selector", selector.into())
    }

    /// Sets the sizing, which decides how many processors a job gets; the default is `exact`.
    pub fn sizing(self, sizing: impl Into<Component>) -> Self {
        self.set("sizing", sizing.into())
    }

    /// Sets the network, which decides how long a placed job runs; the default is `ideal`.
    pub fn network(self, network: impl Into<Component>) -> Self {
        self.set("network", network.into())
    }

    /// Sets the number of jobs that finish before measurement begins; the default is none.
    pub fn warmup_jobs(self, jobs: u64) -> Self {
        self.set("measure.warmup_jobs", whole(jobs))
    }

    /// Sets the number of jobs that finish before the run ends, including the warm-up.
    pub fn jobs(self, jobs: u64) -> Self {
        self.set("measure.jobs", whole(jobs))
    }

    /// Sets the time after the first arrival at which the run ends.
    pub fn time(self, time: f64) -> Self {
        self.set("measure.time", time)
    }

    /// Sets the metrics to measure; the default is all metrics that apply to the scenario.
    pub fn metrics<'m>(self, metrics: impl IntoIterator<Item = &'m str>) -> Self {
        let metrics: Vec<&str> = metrics.into_iter().collect();
        self.set("measure.metrics", metrics)
    }

    /// Reads and checks the scenario, with the same checks as for a study.
    ///
    /// # Errors
    /// The first problem, such as a missing machine.
    pub fn build(self) -> Result<Scenario, Problem> {
        self.lower("scenario", Scenario::read_in)
    }
}

impl Pool {
    /// A builder of a pool, as an alternative to reading a table.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// use meshwork::pool::Pool;
    ///
    /// let mut pool = Pool::builder().torus([8, 8, 8]).allocator("best_fit").build()?;
    /// let block = pool.allocate(&Request::block(&[4, 4, 2])).expect("the torus is empty");
    /// assert_eq!((block.len(), pool.site().free_nodes()), (32, 480));
    /// # Ok::<(), meshwork::registry::Problem>(())
    /// ```
    pub fn builder() -> Builder<Pool> {
        Builder::new()
    }
}

impl Builder<Pool> {
    /// Sets how a number of processors becomes a block: `squarest` (the default) or `exact`.
    pub fn shape(self, shape: &str) -> Self {
        self.set("shape", shape)
    }

    /// Reads and checks the pool. All of its nodes are free.
    ///
    /// # Errors
    /// The first problem, such as a missing machine.
    pub fn build(self) -> Result<Pool, Problem> {
        self.lower("pool", Pool::read_in)
    }
}

/// A number as a value of TOML; the reader refuses numbers outside the range of TOML.
fn whole(number: u64) -> Value {
    i64::try_from(number).map_or(Value::Float(number as f64), Value::Integer)
}

/// Sets a key in which dots separate nested tables; other values on the path become tables.
fn put(table: &mut Table, key: &str, value: Value) {
    let Some((first, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return;
    };
    let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    if let Value::String(name) = inner {
        // A component may be given by its name alone; `workload.load` is then a parameter of it.
        *inner = Value::Table(Table::from_iter([(
            "name".to_owned(),
            Value::String(std::mem::take(name)),
        )]));
    }
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    if let Value::Table(inner) = inner {
        put(inner, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn a_builder_makes_the_table_that_a_study_would_be() {
        let built = Scenario::builder()
            .seed(7)
            .sites([Machine::mesh([4, 4]), Machine::flat(8).speed(2.0).allocator("naive")])
            .allocator(Component::new("first_fit").with("rotation", "if_needed"))
            .scheduler("easy")
            .selector("best_fit")
            .sizing("exact")
            .network("ideal")
            .workload("lublin")
            .set("workload.jobs", 50)
            .warmup_jobs(5)
            .jobs(40)
            .metrics(["wait"])
            .set("measure.by_size", "exact");
        let written = of("seed = 7
            allocator = { name = 'first_fit', rotation = 'if_needed' }
            scheduler = 'easy'
            selector = 'best_fit'
            sizing = 'exact'
            network = 'ideal'
            workload = { name = 'lublin', jobs = 50 }
            measure = { warmup_jobs = 5, jobs = 40, metrics = ['wait'], by_size = 'exact' }
            [[machine.sites]]
            topology = 'mesh'
            dims = [4, 4]
            [[machine.sites]]
            topology = 'flat'
            processors = 8
            speed = 2.0
            allocator = 'naive'");
        let (built, written) = (built.build().unwrap(), Scenario::read(&written).unwrap());
        assert_eq!(built.table().to_string(), written.table().to_string());
    }

    #[test]
    fn what_is_said_last_counts() {
        let built = Scenario::builder()
            .mesh([4, 4])
            .torus([3, 3])
            .workload("lublin")
            .set("workload", "swf");
        assert_eq!(
            *built.table(),
            of("machine = { topology = 'torus', dims = [3, 3] }\nworkload = 'swf'")
        );
        let built = Pool::builder().set("shape", 3).set("shape.x.y", 1).set("seed", 2);
        assert_eq!(*built.table(), of("shape = { x = { y = 1 } }\nseed = 2"));
    }

    #[test]
    fn a_builder_without_a_machine_is_one_sentence_and_so_is_what_the_reader_refuses() {
        let sentence = |refused: Result<Pool, Problem>| refused.err().unwrap().message;
        assert_eq!(
            sentence(Pool::builder().allocator("first_fit").build()),
            "this pool has no machine: give it one with `mesh`, `torus`, `hypercube`, `flat` or `machine`"
        );
        let scenario = Scenario::builder().workload("lublin").build().unwrap_err();
        assert!(scenario.message.starts_with("this scenario has no machine: "), "{scenario}");
        let unknown = sentence(Pool::builder().hypercube(4).allocator("first_fitt").build());
        assert!(unknown.starts_with("unknown allocator `first_fitt` (did you mean `first_fit`?"));
        let seed = sentence(Pool::builder().flat(4).seed(u64::MAX).build());
        assert!(seed.starts_with("`seed` is 18446744073709"), "{seed}");
        let empty = sentence(Pool::builder().mesh([]).build());
        assert!(empty.starts_with("`machine.dims` is []"), "{empty}");
    }
}
