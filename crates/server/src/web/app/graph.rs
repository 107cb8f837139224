//! "Who works with whom" as a drawing: the agents of this browser at the left, those of other owners at the right, a line
//! for each connection. The layout depends on nothing but its input, so a page that is drawn again does not jump.

/// Width of the drawing in units of its view box.
pub(crate) const WIDTH: i32 = 980;
const ROW: i32 = 30;
const TOP: i32 = 58;
const OWN_X: i32 = 232;
const BOX_X: i32 = 632;
const OTHER_X: i32 = 651;
/// Characters of a name beside a node.
const NAME_CHARS: usize = 30;
/// Width of a line, in tenths: one for a connection without tasks, more with each task.
const WIDTH_MIN: i64 = 12;
const WIDTH_STEP: i64 = 6;
const WIDTH_MAX: i64 = 60;

/// An agent in the drawing.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) href: String,
    /// Why the hub does not reach it.
    pub(crate) loss: Option<String>,
}

/// A connection: the places of an own and of another agent in their lists, and their live tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) own: usize,
    pub(crate) other: usize,
    pub(crate) tasks: i64,
}

/// A drawing, ready for a template.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) height: i32,
    pub(crate) own_title_y: i32,
    pub(crate) own: Vec<Placed>,
    pub(crate) others: Vec<Placed>,
    pub(crate) lines: Vec<Line>,
    /// The same in words, for people who do not see the drawing.
    pub(crate) sentence: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) name: String,
    /// The name as far as there is room for it.
    pub(crate) short: String,
    pub(crate) href: String,
    pub(crate) x: i32,
    pub(crate) y: i32,
    /// Live tasks with the agents of the other side.
    pub(crate) tasks: i64,
    pub(crate) loss: Option<String>,
}

/// A line between two agents.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) path: String,
    pub(crate) width: String,
    pub(crate) is_lost: bool,
    /// For the table.
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) tasks: i64,
    pub(crate) loss: Option<String>,
}

impl Graph {
    /// Draws agents and their connections. Others are ordered so that lines cross little: by the own agents that they
    /// work with, then as they came.
    pub(crate) fn new(own: &[Node], others: &[Node], edges: &[Edge]) -> Self {
        let known: Vec<Edge> =
            edges.iter().copied().filter(|edge| edge.own < own.len() && edge.other < others.len()).collect();
        let order = order(others.len(), &known);
        let rows = count(own.len().max(others.len()));
        let height = TOP + rows * ROW;
        let first_own = TOP + (rows - count(own.len())) * ROW / 2;
        let tasks_of =
            |is_it: &dyn Fn(&Edge) -> bool| known.iter().filter(|e| is_it(e)).map(|e| e.tasks).sum();
        let own_placed = own.iter().enumerate().map(|(at, node)| {
            let tasks = tasks_of(&|edge: &Edge| edge.own == at);
            place(node, OWN_X, first_own + count(at) * ROW, tasks)
        });
        let others_placed = order.iter().enumerate().map(|(row, at)| {
            let tasks = tasks_of(&|edge: &Edge| edge.other == *at);
            place(&others[*at], OTHER_X, TOP + count(row) * ROW, tasks)
        });
        let mut graph = Self {
            height,
            own_title_y: first_own - 24,
            own: own_placed.collect(),
            others: others_placed.collect(),
            ..Self::default()
        };
        let row_of = |other: usize| order.iter().position(|at| *at == other).unwrap_or_default();
        graph.lines =
            known.iter().map(|e| line(&graph.own[e.own], &graph.others[row_of(e.other)], e.tasks)).collect();
        graph.sentence = graph.describe();
        graph
    }

    /// The width of the box around the others.
    pub(crate) fn box_width(&self) -> i32 {
        WIDTH - BOX_X - 12
    }

    fn describe(&self) -> String {
        let lost = self.lines.iter().filter(|line| line.is_lost).count();
        let tasks: i64 = self.lines.iter().map(|line| line.tasks).sum();
        let agents = match self.others.len() {
            1 => "1 agent of another owner".to_owned(),
            n => format!("{n} agents of other owners"),
        };
        let tasks = if tasks == 1 { "1 live task".to_owned() } else { format!("{tasks} live tasks") };
        let lost = match lost {
            0 => "all are reached".to_owned(),
            1 => "1 is not reached".to_owned(),
            n => format!("{n} are not reached"),
        };
        format!("{agents}, {tasks}, {lost}")
    }
}

/// The others by the mean place of the own agents that they work with.
fn order(others: usize, edges: &[Edge]) -> Vec<usize> {
    let weight = |other: usize| {
        let places: Vec<usize> =
            edges.iter().filter(|edge| edge.other == other).map(|edge| edge.own).collect();
        // In thousandths, so that nothing depends on how fractions are rounded.
        places.iter().sum::<usize>() * 1_000 / places.len().max(1)
    };
    let mut order: Vec<usize> = (0..others).collect();
    order.sort_by_key(|other| (weight(*other), *other));
    order
}

fn place(node: &Node, x: i32, y: i32, tasks: i64) -> Placed {
    Placed {
        name: node.name.clone(),
        short: shortened(&node.name),
        href: node.href.clone(),
        x,
        y,
        tasks,
        loss: node.loss.clone(),
    }
}

/// A curve that leaves and arrives level, so that lines which begin at one node part soon.
fn line(own: &Placed, other: &Placed, tasks: i64) -> Line {
    let (x1, y1, x2, y2) = (own.x + 8, own.y, other.x, other.y);
    let tenths = if tasks == 0 { WIDTH_MIN } else { (WIDTH_MIN + tasks * WIDTH_STEP).min(WIDTH_MAX) };
    Line {
        path: format!("M {x1} {y1} C {} {y1} {} {y2} {x2} {y2}", x1 + 190, x2 - 180),
        width: format!("{}.{}", tenths / 10, tenths % 10),
        is_lost: other.loss.is_some(),
        from: own.name.clone(),
        to: other.name.clone(),
        tasks,
        loss: other.loss.clone(),
    }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME_CHARS {
        return name.to_owned();
    }
    let start: String = name.chars().take(NAME_CHARS - 1).collect();
    format!("{start}…")
}

fn count(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(names: &[&str]) -> Vec<Node> {
        let node = |name: &&str| Node { name: (*name).to_owned(), href: format!("/{name}"), loss: None };
        names.iter().map(node).collect()
    }

    #[test]
    fn a_drawing_depends_on_its_input_only() {
        let (own, mut others) = (nodes(&["ada", "bea"]), nodes(&["x", "y", "z"]));
        others[2].loss = Some("never seen".to_owned());
        let edges = [(1, 0, 3), (0, 1, 0), (0, 2, 100)].map(|(own, other, tasks)| Edge { own, other, tasks });
        let graph = Graph::new(&own, &others, &edges);
        // Those who work with the first own agent come first.
        let names: Vec<&str> = graph.others.iter().map(|other| other.name.as_str()).collect();
        assert_eq!(names, ["y", "z", "x"]);
        let lines: Vec<_> = graph.lines.iter().map(|l| (l.from.as_str(), l.to.as_str(), &*l.width)).collect();
        assert_eq!(lines, [("bea", "x", "3.0"), ("ada", "y", "1.2"), ("ada", "z", "6.0")]);
        assert_eq!(graph.lines.iter().map(|line| line.is_lost).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(graph.sentence, "3 agents of other owners, 103 live tasks, 1 is not reached");
        let again = Graph::new(&own, &others, &edges);
        assert_eq!(format!("{graph:?}"), format!("{again:?}"));
    }

    #[test]
    fn nodes_stay_inside_and_apart() {
        for (left, right) in [(0, 0), (1, 0), (0, 3), (1, 20), (16, 2)] {
            let names: Vec<String> = (0..20).map(|n| format!("agent {n} {}", "long".repeat(20))).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let graph = Graph::new(&nodes(&names[..left]), &nodes(&names[..right]), &[]);
            for side in [&graph.own, &graph.others] {
                assert!(side.windows(2).all(|pair| pair[1].y - pair[0].y >= 24));
                assert!(side.iter().all(|node| node.y >= 40 && node.y + 8 <= graph.height), "{graph:?}");
                assert!(side.iter().all(|node| node.short.chars().count() <= NAME_CHARS));
            }
        }
        // An edge to an agent that is not drawn is left out.
        let edge = Edge { own: 3, other: 0, tasks: 1 };
        assert!(Graph::new(&nodes(&["a"]), &nodes(&["b"]), &[edge]).lines.is_empty());
    }
}
