//! Reads a hub's metrics page, which is in Prometheus' text format.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub(crate) struct Metrics {
    samples: Vec<Sample>,
}

#[derive(Debug, Clone)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Metrics {
    /// Parses a page. Lines of another shape are skipped.
    pub(crate) fn parse(page: &str) -> Self {
        let samples = page.lines().filter(|line| !line.starts_with('#')).filter_map(parse_line).collect();
        Self { samples }
    }

    /// The sum over all labels of a metric; zero if there is none.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        self.samples.iter().filter(|sample| sample.name == name).map(|sample| sample.value).sum()
    }

    /// The histograms of a metric by the value of a label; by the empty text if it has no such label.
    pub(crate) fn histograms(&self, name: &str, label: &str) -> BTreeMap<String, Histogram> {
        let mut found: BTreeMap<String, Histogram> = BTreeMap::new();
        for sample in &self.samples {
            let Some(part) = sample.name.strip_prefix(name) else { continue };
            let key = sample.labels.get(label).cloned().unwrap_or_default();
            match part {
                "_sum" => found.entry(key).or_default().sum = sample.value,
                "_count" => found.entry(key).or_default().count = sample.value,
                "_bucket" => {
                    let bound = sample.labels.get("le").and_then(|bound| bound.parse().ok());
                    let bound = bound.unwrap_or(f64::INFINITY);
                    found.entry(key).or_default().buckets.push((bound, sample.value));
                }
                _ => {}
            }
        }
        found
    }
}

/// `name{label="value",..} number`, or without labels.
fn parse_line(line: &str) -> Option<Sample> {
    let (head, value) = line.rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let Some((name, rest)) = head.split_once('{') else {
        return Some(Sample { name: head.to_owned(), labels: BTreeMap::new(), value });
    };
    let mut labels = BTreeMap::new();
    let mut rest = rest.strip_suffix('}')?;
    while let Some((label, quoted)) = rest.split_once("=\"") {
        let (content, after) = quoted.split_once('"')?;
        labels.insert(label.trim_start_matches(',').to_owned(), content.to_owned());
        rest = after;
    }
    Some(Sample { name: name.to_owned(), labels, value })
}

/// A histogram: how many observations there were up to each bound.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    pub(crate) count: f64,
    sum: f64,
    buckets: Vec<(f64, f64)>,
}

impl Histogram {
    /// What was added since an earlier reading.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let before = |at: usize| earlier.buckets.get(at).map_or(0.0, |(_, count)| *count);
        let buckets = self
            .buckets
            .iter()
            .enumerate()
            .map(|(at, (bound, count))| (*bound, count - before(at)))
            .collect();
        Self { count: self.count - earlier.count, sum: self.sum - earlier.sum, buckets }
    }

    /// The average, in the unit of the metric.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }

    /// The bound below which this share of the observations is; the last finite bound if they are beyond it.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        if self.count <= 0.0 {
            return None;
        }
        let reached = self.buckets.iter().find(|(_, count)| *count >= self.count * share);
        let largest = || self.buckets.iter().rev().find(|(bound, _)| bound.is_finite());
        reached.filter(|(bound, _)| bound.is_finite()).or_else(largest).map(|(bound, _)| *bound)
    }
}
