//! JSON form of the parts of nodes (cores, memory, GPUs) that a job holds.

use meshwork::geometry::{NodePart, PartAmounts, Parts};
use meshwork::job::WHOLE_SHARE;
use meshwork::machine::Placement;
use meshwork::topology::Topology;
use meshwork::topology::types::NodeType;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NodePartText {
    pub node: Json,
    /// Number of the job's pieces on the node. Pieces are equal parts of its request.
    #[serde(default = "one")]
    pieces: u32,
    cpu: u32,
    /// Cores on each island of the node, such as a socket. May be left out if the node is a single
    /// island.
    #[serde(default)]
    islands: Vec<u32>,
    /// Memory that the job holds, in MiB.
    #[serde(default)]
    mem: u32,
    #[serde(default)]
    gpus: Vec<u32>,
    /// Fraction of each GPU that the job holds, as one number or a list. `None` if it holds whole
    /// GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    share: Option<Json>,
    /// Amount of the node's resource `other`, whose meaning the study defines.
    #[serde(default, skip_serializing_if = "is_zero")]
    other: u32,
}

fn one() -> u32 {
    1
}

fn is_zero(amount: &u32) -> bool {
    *amount == 0
}

impl NodePartText {
    /// Parts of nodes that a job's placement holds. `None` if the job holds whole nodes.
    pub fn all_of(placement: &Placement, topology: &Topology) -> Option<Vec<NodePartText>> {
        let (types, parts) = (topology.types()?, placement.parts.as_ref()?);
        Some(parts.parts.iter().map(|part| Self::of(part, types.of(part.node))).collect())
    }

    fn of(part: &NodePart, kind: &NodeType) -> NodePartText {
        let PartAmounts { cores, mem, other, gpus } = part.amounts(kind);
        let fraction = |share: u32| f64::from(share) / f64::from(WHOLE_SHARE);
        let (gpus, shares): (Vec<u32>, Vec<u32>) = gpus.into_iter().unzip();
        let share = match shares.first() {
            Some(&first) if shares.iter().all(|share| *share == first) => {
                (first < WHOLE_SHARE).then(|| json!(fraction(first)))
            }
            None => None,
            Some(_) => Some(shares.into_iter().map(fraction).collect()),
        };
        let cpu = cores.iter().sum();
        let node = json!(part.node);
        NodePartText { node, pieces: part.pieces, cpu, islands: cores, mem, gpus, share, other }
    }

    /// Makes the placement of a job from its parts of nodes. `number` converts the number or the
    /// name of a node.
    pub fn placement(
        parts: &[NodePartText],
        topology: &Topology,
        number: impl Fn(&Json) -> Result<u32, String>,
    ) -> Result<Placement, String> {
        let types =
            topology.types().ok_or("it has parts, but the nodes of the machine have no types")?;
        let own = parts.iter().map(|part| {
            let node = number(&part.node)?;
            let wrong = |says| format!("part of node {}: {says}", part.node);
            part.on(node, types.of(node)).map_err(wrong)
        });
        let own: Vec<NodePart> = own.collect::<Result<_, String>>()?;
        let placement = Placement::of_nodes(topology.grid(), own.iter().map(|part| part.node));
        let cores = parts.iter().map(|part| part.cpu).sum();
        Ok(Placement { parts: Some(Box::new(Parts { parts: own, cores })), ..placement })
    }

    fn on(&self, node: u32, kind: &NodeType) -> Result<NodePart, String> {
        let cores = match (self.islands.as_slice(), kind.islands) {
            ([], 1) => vec![self.cpu],
            ([], islands) => {
                return Err(format!(
                    "islands is missing: the number of cores on each of the {islands} islands"
                ));
            }
            (given, islands) => {
                if given.len() != islands as usize || given.iter().sum::<u32>() != self.cpu {
                    return Err(format!(
                        "islands is {given:?}, but must have the {} cores on {islands} islands",
                        self.cpu
                    ));
                }
                given.to_vec()
            }
        };
        if let Some(beyond) = self.gpus.iter().find(|gpu| **gpu >= kind.gpu) {
            return Err(format!("there is no GPU {beyond}, the node has {}", kind.gpu));
        }
        if self.pieces == 0 {
            return Err("pieces is 0, but must be at least 1".to_owned());
        }
        let wrong = || {
            let given = self.share.as_ref().unwrap_or(&Json::Null);
            format!("share is {given}, but must be above 0 and at most 1, for all GPUs or for each")
        };
        let share = |given: &Json| {
            let given = given.as_f64().filter(|share| *share > 0.0 && *share <= 1.0)?;
            Some((given * f64::from(WHOLE_SHARE)).round() as u32)
        };
        let shares: Vec<u32> = match &self.share {
            None => vec![WHOLE_SHARE; self.gpus.len()],
            Some(Json::Array(each)) => {
                each.iter().map(share).collect::<Option<_>>().ok_or_else(wrong)?
            }
            Some(all) => vec![share(all).ok_or_else(wrong)?; self.gpus.len()],
        };
        if shares.len() != self.gpus.len() {
            return Err(wrong());
        }
        let gpus = self.gpus.iter().copied().zip(shares).collect();
        let amounts = PartAmounts { cores, mem: self.mem, other: self.other, gpus };
        Ok(NodePart::new(node, self.pieces, &amounts, kind))
    }
}
