//! Tables: aligned columns with a header on a terminal, tab-separated lines without a header in a pipe.

use unicode_width::UnicodeWidthStr as _;

use super::Terminal;
use super::text;
use crate::exit::Outcome;

/// Columns below which a column is not shortened.
const COLUMN_MIN: usize = 8;
/// Spaces between columns.
const GAP: usize = 2;

#[derive(Debug)]
pub(crate) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The column that is shortened first when the terminal is narrow.
    flexible: usize,
}

impl Table {
    /// A table with these columns. `flexible` is the number of the column that is shortened first.
    pub(crate) fn new(header: &[&'static str], flexible: usize) -> Self {
        Self { header: header.to_vec(), rows: Vec::new(), flexible }
    }

    /// Adds a row. The cells may contain text from peers; they are made safe here.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.rows.push(cells.into_iter().map(|cell| text::line(cell.as_ref())).collect());
    }

    /// Prints the table, or a sentence if it is empty. In a pipe an empty table prints nothing.
    pub(crate) fn print(&self, to: &Terminal, when_empty: &str) -> Outcome {
        if self.rows.is_empty() {
            if to.interactive {
                to.note(when_empty);
            }
            return Ok(());
        }
        if !to.interactive {
            for row in &self.rows {
                to.line(&row.join("\t"))?;
            }
            return Ok(());
        }
        let Some(widths) = self.widths(to.width()) else { return self.print_records(to) };
        let header: Vec<String> = self.header.iter().map(|name| name.to_uppercase()).collect();
        to.line(&to.dim(&aligned(&header, &widths)))?;
        for row in &self.rows {
            to.line(&aligned(row, &widths))?;
        }
        Ok(())
    }

    /// Prints each row as lines of a name and a value, for terminals that are too narrow for columns.
    fn print_records(&self, to: &Terminal) -> Outcome {
        let label_width = self.header.iter().map(|name| name.width()).max().unwrap_or(0) + GAP;
        for (number, row) in self.rows.iter().enumerate() {
            if number > 0 {
                to.line("")?;
            }
            for (name, cell) in self.header.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                let label = format!("{:<label_width$}", name.to_uppercase());
                to.line(&format!("{}{}", to.dim(&label), to.beside(label_width, cell)))?;
            }
        }
        Ok(())
    }

    /// The widths of the columns, so that a row fits into the terminal: the flexible column gives way first, then
    /// always the widest. None if the terminal is too narrow for that.
    fn widths(&self, available: usize) -> Option<Vec<usize>> {
        let cell_width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
            cells.max().unwrap_or(0).max(self.header[column].width())
        };
        let mut widths: Vec<usize> = (0..self.header.len()).map(cell_width).collect();
        let total = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let over = total(&widths).saturating_sub(available);
        if let Some(flexible) = widths.get_mut(self.flexible) {
            *flexible = flexible.saturating_sub(over).max((*flexible).min(COLUMN_MIN * 2));
        }
        while total(&widths) > available {
            let widest =
                widths.iter_mut().max_by_key(|width| **width).filter(|width| **width > COLUMN_MIN)?;
            *widest -= 1;
        }
        Some(widths)
    }
}

fn aligned(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        let shown = text::cut(cell, *width);
        line.push_str(&shown);
        line.push_str(&" ".repeat(width.saturating_sub(shown.width()) + GAP));
    }
    line.trim_end().to_owned()
}
