//! Requests for parts of nodes: a job asks for pieces, each with cores, memory and GPUs.

use std::fmt;

/// Thousandths that make up a whole GPU.
pub const WHOLE_SHARE: u32 = 1000;

/// A request for pieces, each of which gets some cores, memory and GPUs of one node.
///
/// All pieces of a job start together. A job with several roles, such as a server and its workers,
/// has an entry for each role.
///
/// ```
/// use meshwork::job::{Piece, Pieces, Request};
/// let request = Request::pieces(Pieces::of(Piece { count: 4, cpu: 8, gpu: 1, ..Piece::default() }));
/// assert_eq!((request.nodes(), request.to_string().as_str()), (32, "pieces=4 cpu=8 gpu=1"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Pieces {
    /// The roles of the job's pieces; there is at least one.
    pub roles: Vec<Piece>,
    /// The part of the machine that must hold all pieces of the job.
    pub inside: Inside,
    /// Whether the job gets whole nodes, which no other job may use.
    pub exclusive: bool,
}

/// Pieces of a job that need the same resources, such as its workers or its servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Piece {
    /// Number of pieces of this role.
    pub count: u32,
    /// Cores of each piece, at least 1.
    pub cpu: u32,
    /// Memory of each piece in MiB.
    pub mem: u32,
    /// Number of GPUs of each piece.
    pub gpu: u32,
    /// Requested thousandths of each GPU; below [`WHOLE_SHARE`] only for a share of one GPU.
    pub share: u32,
    /// Amount of a node's resource `other` for each piece. A study defines the meaning of `other`.
    pub other: u32,
    /// Minimum number of pieces of this role on each node that gets some of them.
    pub per_node_min: u32,
    /// Maximum number of pieces of this role on a node; `None` for no limit.
    pub per_node: Option<u32>,
    /// Allowed types of nodes or GPUs, or features, separated by `|`; `None` if all are allowed.
    pub types: Option<String>,
}

impl Default for Piece {
    fn default() -> Piece {
        Piece {
            count: 1,
            cpu: 1,
            mem: 0,
            gpu: 0,
            share: WHOLE_SHARE,
            other: 0,
            per_node_min: 1,
            per_node: None,
            types: None,
        }
    }
}

/// The part of a machine that must hold all pieces of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Inside {
    /// The pieces may be anywhere on the machine.
    #[default]
    Anywhere,
    /// All pieces must be in one group of a dragonfly, or one subtree below the top of a fat tree.
    Block,
    /// All pieces must be on the nodes of one leaf switch or router.
    Leaf,
    /// All pieces must be on one node.
    Node,
    /// All pieces must be on one island of a node, such as a socket or an NVLink domain.
    Island,
}

impl Inside {
    /// Every word of the column `inside` of a table of jobs, with its meaning.
    pub const WORDS: [(&'static str, Inside); 4] = [
        ("island", Inside::Island),
        ("node", Inside::Node),
        ("leaf", Inside::Leaf),
        ("block", Inside::Block),
    ];

    /// Word for this part of a machine in the column `inside` of a table of jobs. `None` for the
    /// whole machine.
    #[must_use]
    pub fn word(self) -> Option<&'static str> {
        Inside::WORDS.iter().find(|(_, inside)| *inside == self).map(|(word, _)| *word)
    }
}

impl Piece {
    /// Whether each piece takes only a share of one GPU.
    #[must_use]
    pub fn is_sharing(&self) -> bool {
        self.gpu == 1 && self.share < WHOLE_SHARE
    }

    /// GPUs of each piece as users write them: `2`, or `0.5` for half of one GPU.
    #[must_use]
    pub fn gpus_text(&self) -> String {
        if self.is_sharing() {
            (f64::from(self.share) / f64::from(WHOLE_SHARE)).to_string()
        } else {
            self.gpu.to_string()
        }
    }

    /// Limits on the number of pieces on one node, such as `4` or `2-4`; `None` without limits.
    #[must_use]
    pub fn per_node_text(&self) -> Option<String> {
        match (self.per_node_min, self.per_node) {
            (..=1, None) => None,
            (..=1, Some(most)) => Some(most.to_string()),
            (least, None) => Some(format!("{least}-{}", self.count)),
            (least, Some(most)) => Some(format!("{least}-{most}")),
        }
    }

    /// Columns of a table of jobs that describe the pieces of this role, each with the text of its
    /// cell.
    #[must_use]
    pub fn cells(&self) -> Vec<(&'static str, String)> {
        let amount = |amount: u32| (amount > 0).then(|| amount.to_string());
        let all = [
            ("pieces", Some(self.count.to_string())),
            ("cpu", Some(self.cpu.to_string())),
            ("mem", amount(self.mem)),
            ("gpu", amount(self.gpu).map(|_| self.gpus_text())),
            ("other", amount(self.other)),
            ("per_node", self.per_node_text()),
            ("type", self.types.clone()),
        ];
        all.into_iter().filter_map(|(name, cell)| Some((name, cell?))).collect()
    }
}

impl Pieces {
    /// The request for pieces of one role, anywhere on the machine.
    #[must_use]
    pub fn of(piece: Piece) -> Pieces {
        Pieces { roles: vec![piece], ..Pieces::default() }
    }

    /// The request for `count` whole nodes, of any types.
    #[must_use]
    pub fn whole_nodes(count: u32) -> Pieces {
        let piece = Piece { count, per_node: Some(1), ..Piece::default() };
        Pieces { exclusive: true, ..Pieces::of(piece) }
    }

    /// Number of cores of all pieces together.
    #[must_use]
    pub fn cores(&self) -> u64 {
        self.roles.iter().map(|piece| u64::from(piece.count) * u64::from(piece.cpu)).sum()
    }

    /// The roles as users write them, such as `2*cpu=8,gpu=1+1*cpu=4`; `None` if there is one role.
    #[must_use]
    pub fn roles_text(&self) -> Option<String> {
        let role = |piece: &Piece| {
            let own = piece.cells().into_iter().filter(|(name, _)| *name != "pieces");
            let own: Vec<String> = own.map(|(name, cell)| format!("{name}={cell}")).collect();
            format!("{}*{}", piece.count, own.join(","))
        };
        (self.roles.len() > 1).then(|| self.roles.iter().map(role).collect::<Vec<_>>().join("+"))
    }
}

/// Formats the request as words for the columns of a table, such as `pieces=4 cpu=8 gpu=1`.
impl fmt::Display for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.roles_text(), self.roles.first()) {
            (None, Some(only)) => {
                let cells: Vec<String> =
                    only.cells().iter().map(|(name, cell)| format!("{name}={cell}")).collect();
                f.write_str(&cells.join(" "))?;
            }
            (roles, _) => write!(f, "roles={}", roles.unwrap_or_default())?,
        }
        if let Some(word) = self.inside.word() {
            write!(f, " inside={word}")?;
        }
        if self.exclusive { f.write_str(" exclusive=node") } else { Ok(()) }
    }
}
