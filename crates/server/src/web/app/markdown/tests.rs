//! What the Markdown of agents becomes, hostile Markdown above all.

use super::{Budget, Excerpt, RENDERED_BYTES_MAX, Shown, plain, whole};

fn markdown(text: &str) -> Excerpt {
    super::markdown(text, &mut Budget::of_a_page())
}

#[track_caller]
fn html_of(text: &str) -> String {
    match markdown(text).shown {
        Shown::Html(html) => html,
        Shown::Plain(text) => panic!("plain: {text}"),
    }
}

#[test]
fn ordinary_text_is_formatted() {
    let html = html_of(
        "# Three changes\n\n1. `a` is *new*\n2. **b** went\n\nand\n\n- c\n\n> so\n> be it\n\n| x | y |\n|---|---|\n| 1 | 2 |",
    );
    for part in [
        "<h4>Three changes</h4>",
        "<ol>",
        "<ul>\n<li>c</li>",
        "<code>a</code>",
        "<em>new</em>",
        "<strong>b</strong>",
        "<blockquote>",
        "<td>1</td>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert!(html_of("one\ntwo").contains("one<br>"), "lines stay lines");
    assert!(html_of("## a\n\n###### b").contains("<h5>a</h5>"));
}

#[test]
fn nothing_acts() {
    for hostile in [
        "<script>alert(1)</script>",
        "a <b onclick=alert(1)>b</b>",
        "<img src=x onerror=alert(1)>",
        "![alt](https://evil.example/pixel.png)",
        "[![alt](x.png)](javascript:alert(1))",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&#58;alert(1))",
        "[x](data:text/html,<script>1</script>)",
        "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.example) [r](/app/sign-out)",
        "<https://ok.example/\" onmouseover=\"alert(1)>",
        "[x](https://a.example/ \"t\" onx=1)",
        "```html\" onload=\"x\n<script>\n```",
        "<style>*{display:none}</style><iframe src=//e></iframe><svg/onload=alert(1)>",
        "# h {#main .card onclick=x}",
        "<!-- --><form action=/app/sign-out method=post><input name=csrf><button>OK</button></form>",
        "<div class=\"banner\" style=\"position:fixed\">",
        "[a]: javascript:alert(1)\n[a]",
        "</div></article></main><h1>Approved</h1>",
        "&lt;script&gt;&#60;script&#62;alert(1)",
    ] {
        let html = html_of(hostile);
        for bad in [
            "<script",
            "<img",
            "<iframe",
            "<svg",
            "<style",
            "<form",
            "<input",
            "<button",
            "<div",
            "<main",
            "<h1",
            "</div",
            "class=",
            "style=",
            " id=",
            "title=",
            "src=",
            "href=\"javascript",
            "href=\"data",
            "href=\"/",
            "href=\"file",
            "href=\"vb",
        ] {
            // What was written may be shown as text: there its angle brackets are escaped.
            let acts =
                html.contains(bad) && (bad.starts_with('<') || tags(&html).any(|tag| tag.contains(bad)));
            assert!(!acts, "{bad} in {html}");
        }
        assert!(!tags(&html).any(|tag| tag.contains(" on")), "{html}");
    }
}

/// The tags of the HTML, without the text between them.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default())
}

#[test]
fn images_become_their_description() {
    let html = html_of("before ![a *red* house](https://evil.example/p.png?id=1) after");
    assert!(html.contains("before a <em>red</em> house after"), "{html}");
    assert!(!html.contains("evil.example"), "{html}");
}

#[test]
fn raw_html_is_text() {
    assert!(html_of("<b>bold</b>").contains("&lt;b&gt;bold&lt;/b&gt;"));
    assert!(html_of("x <script>alert(1)</script>").contains("&lt;script&gt;alert(1)"));
}

#[test]
fn links_show_where_they_lead() {
    let html = html_of("[your bank](https://evil.example/login)");
    let expected = "<a href=\"https://evil.example/login\" rel=\"noopener noreferrer nofollow\">your bank</a> \
                    (<bdi>https://evil.example/login</bdi>)";
    assert!(html.contains(expected), "{html}");
    let same = html_of("<https://ok.example/>");
    assert!(same.contains(">https://ok.example/</a></p>"), "{same}");
    let lying = html_of("[https://bank.example](https://evil.example)");
    assert!(lying.contains("(<bdi>https://evil.example/</bdi>)"), "{lying}");
    // Another alphabet, and a name before the host.
    assert!(html_of("[x](https://exаmple.com)").contains("(<bdi>https://xn--exmple-4nf.com/</bdi>)"));
    let named = html_of("[x](https://bank.example@evil.example/)");
    assert!(
        !named.contains("<a") && named.contains("(<bdi>https://bank.example@evil.example/</bdi>)"),
        "{named}"
    );
    let script = html_of("[click](javascript:alert(1))");
    assert!(!script.contains("<a") && script.contains("click (<bdi>javascript:alert(1)</bdi>)"), "{script}");
}

/// The parser finds links in the text of a link.
#[test]
fn a_link_in_a_link_does_not_leave_it_open() {
    for inner in ["<mailto:a@b.example>", "https://good.example <http://x.example/>"] {
        let html = html_of(&format!("[see {inner}](http://evil.example/)\n\nnext [y](http://y.example/)"));
        assert_eq!((html.matches("<a ").count(), html.matches("</a>").count()), (2, 2), "{html}");
        assert!(html.contains("</a> (<bdi>http://evil.example/</bdi>)</p>"), "{html}");
    }
}

#[test]
fn work_is_bounded() {
    let repeated = format!("[a]: http://x.example/{}\n\n{}", "&".repeat(7_000), "[a] ".repeat(2_000));
    assert!(matches!(markdown(&repeated).shown, Shown::Plain(_)));
    let long = markdown(&"word \u{1F600}\n".repeat(50_000));
    assert!(long.is_cut);
    let Shown::Html(html) = long.shown else { panic!("plain") };
    assert!(html.len() < 3 * RENDERED_BYTES_MAX, "{}", html.len());
    for deep in [
        ">".repeat(60_000),
        "- ".repeat(30_000),
        "*a ".repeat(20_000),
        "[".repeat(60_000),
        "![".repeat(30_000),
    ] {
        let _ = markdown(&deep);
    }
    assert_eq!(
        markdown(&format!("{} x", "> ".repeat(100))).shown,
        Shown::Plain(format!("{} x", "> ".repeat(100)))
    );
    assert_eq!(whole("<b>"), Excerpt { shown: Shown::Plain("<b>".to_owned()), is_cut: false });
    assert!(plain(&"x".repeat(RENDERED_BYTES_MAX + 1)).is_cut);
}

/// A short text can stand for a table of very many cells.
#[test]
fn a_table_with_too_many_cells_stays_text() {
    let table = |columns: usize, rows: usize| {
        let line = |cell: &str| format!("|{}\n", format!("{cell}|").repeat(columns));
        format!("{}{}{}", line("a"), line("-"), "a\n".repeat(rows))
    };
    assert!(matches!(markdown(&table(10, 20)).shown, Shown::Html(_)));
    assert!(matches!(markdown(&table(500, 500)).shown, Shown::Plain(_)));
}

/// However many texts there are: some are formatted, the others are shown as they are.
#[test]
fn the_work_of_a_page_is_bounded() {
    let formatted = |text: &str, count: usize| {
        let mut budget = Budget::of_a_page();
        let shown = (0..count).map(|_| super::markdown(text, &mut budget).shown);
        shown.filter(|shown| matches!(shown, Shown::Html(_))).count()
    };
    let prose = "The *quick* brown fox and `code`.\n\n".repeat(100);
    assert_eq!(formatted(&prose[..prose.len().min(4_000)], 8), 8);
    // Many events, and many bytes with hardly an event.
    assert_eq!(formatted(&"*_".repeat(RENDERED_BYTES_MAX / 2), 30), 0);
    assert!(formatted(&"*a* ".repeat(600), 30) < 10);
    assert_eq!(formatted(&"x".repeat(RENDERED_BYTES_MAX), 30), 8);
    // What is left over is for short texts.
    let mut budget = Budget::of_a_page();
    let _ = super::markdown(&"*_".repeat(RENDERED_BYTES_MAX / 2), &mut budget);
    assert_eq!(super::markdown("*late*", &mut budget).shown, Shown::Plain("*late*".to_owned()));
}
