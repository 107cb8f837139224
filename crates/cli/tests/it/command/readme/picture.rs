//! Draws a session as a picture: two terminals, in which the lines appear one after the other.

use std::fmt::Write as _;

use super::terminal::{COLUMNS, Line, Style};

/// What happened in one terminal at one moment.
#[derive(Debug)]
pub struct Frame {
    pub terminal: String,
    /// The line with the prompt, if a command was typed.
    pub typed: Option<Line>,
    pub printed: Vec<Line>,
}

const FONT: u32 = 12;
const LINE: u32 = 17;
/// A little more than a character of the usual monospaced fonts.
const CHARACTER: f32 = 7.3;
const MARGIN: u32 = 14;
const TITLE: u32 = 30;

const STYLE: &str = "\
svg{--back:#fff;--bar:#eaeef2;--edge:#d0d7de;--text:#1f2328;--dim:#656d76;--red:#cf222e;--green:#1a7f37;--yellow:#9a6700;\
--blue:#0969da;--magenta:#8250df;--cyan:#1b7c83}
@media(prefers-color-scheme:dark){svg{--back:#0d1117;--bar:#21262d;--edge:#30363d;--text:#e6edf3;--dim:#8b949e;\
--red:#ff7b72;--green:#3fb950;--yellow:#d29922;--blue:#58a6ff;--magenta:#bc8cff;--cyan:#39c5cf}}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;\
fill:var(--text);white-space:pre}
.pane{fill:var(--back);stroke:var(--edge)}.bar{fill:var(--bar);stroke:var(--edge)}.b{font-weight:bold}.d{fill:var(--dim)}
.c31{fill:var(--red)}.c32{fill:var(--green)}.c33{fill:var(--yellow)}.c34{fill:var(--blue)}.c35{fill:var(--magenta)}\
.c36{fill:var(--cyan)}
@media(prefers-reduced-motion:no-preference){g{opacity:.2;animation:show .2s linear forwards}}
@keyframes show{to{opacity:1}}
";

/// The picture as SVG.
pub fn draw(frames: &[Frame]) -> String {
    let mut terminals: Vec<&str> = Vec::new();
    for frame in frames {
        if !terminals.contains(&frame.terminal.as_str()) {
            terminals.push(&frame.terminal);
        }
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a width in pixels")]
    let pane = (f32::from(COLUMNS) * CHARACTER) as u32 + 2 * MARGIN;
    let mut rows = vec![0; terminals.len()];
    let mut lines = String::new();
    let mut tenths = 5;
    for frame in frames {
        let at = terminals.iter().position(|name| *name == frame.terminal).unwrap();
        let x = at as u32 * (pane + MARGIN) + MARGIN;
        if let Some(typed) = &frame.typed {
            group(&mut lines, std::slice::from_ref(typed), x, &mut rows[at], tenths);
            tenths += 4;
        }
        group(&mut lines, &frame.printed, x, &mut rows[at], tenths);
        tenths += 4 + frame.printed.len();
    }
    let height = TITLE + rows.iter().max().unwrap_or(&0) * LINE + 2 * MARGIN;
    let count = terminals.len() as u32;
    let width = count * pane + (count - 1) * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 {} {}\" role=\"img\">\n\
         <title>Two terminals: two agents pair, exchange a task with files, and an encrypted task</title>\n\
         <style>\n{STYLE}</style>\n",
        width + 2,
        height + 2
    );
    for (at, name) in terminals.iter().enumerate() {
        let x = at as u32 * (pane + MARGIN);
        let (middle, baseline) = (x + pane / 2, TITLE - 10);
        let _ = write!(
            svg,
            "<rect class=\"pane\" x=\"{x}\" width=\"{pane}\" height=\"{height}\" rx=\"8\"/>\n\
             <rect class=\"bar\" x=\"{x}\" width=\"{pane}\" height=\"{TITLE}\" rx=\"8\"/>\n\
             <text class=\"d\" x=\"{middle}\" y=\"{baseline}\" text-anchor=\"middle\">{name}</text>\n"
        );
    }
    svg + &lines + "</svg>\n"
}

/// Lines that appear together. Before, they are faint, for viewers that show only the beginning.
fn group(svg: &mut String, lines: &[Line], x: u32, row: &mut u32, tenths: usize) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(svg, "<g style=\"animation-delay:{}.{}s\">", tenths / 10, tenths % 10);
    for line in lines {
        let columns: usize = line.iter().map(|(text, _)| text.chars().count()).sum();
        assert!(columns <= usize::from(COLUMNS), "too wide for the picture: {line:?}");
        let y = TITLE + MARGIN + *row * LINE + FONT;
        *row += 1;
        if line.is_empty() {
            continue;
        }
        let spans: String = line.iter().map(|(text, style)| span(text, *style)).collect();
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{spans}</text>");
    }
    svg.push_str("</g>\n");
}

fn span(text: &str, style: Style) -> String {
    let safe = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut classes = Vec::new();
    if style.bold {
        classes.push("b".to_owned());
    }
    if style.dim {
        classes.push("d".to_owned());
    }
    classes.extend(style.colour.map(|colour| format!("c{colour}")));
    match classes.as_slice() {
        [] => safe,
        some => format!("<tspan class=\"{}\">{safe}</tspan>", some.join(" ")),
    }
}
