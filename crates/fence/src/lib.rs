//! `#[derive(Fence)]` for the views of `tandem-api`: a view is fenced by fencing every field.
//!
//! It reads the names of the fields and nothing else, so it needs no library that parses Rust.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Implements `crate::fence::Fence` for a struct with named fields. The type of every field must implement it.
#[proc_macro_derive(Fence)]
pub fn fence(item: TokenStream) -> TokenStream {
    let mut tokens = item.into_iter().skip_while(|token| token.to_string() != "struct").skip(1);
    let made = match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(view)), Some(TokenTree::Group(body)))
            if body.delimiter() == Delimiter::Brace =>
        {
            let fields = names(body.stream()).into_iter();
            let each: String =
                fields.map(|field| format!("crate::fence::Fence::fence(&mut self.{field}, with);")).collect();
            format!(
                "impl crate::fence::Fence for {view} {{
                    fn fence(&mut self, with: &dyn crate::fence::Fencer) {{ {each} }}
                }}"
            )
        }
        _ => "compile_error!(\"only a struct with named fields and without generics can be fenced\");"
            .to_owned(),
    };
    made.parse().unwrap_or_default()
}

/// The names of the fields: what stands before each colon that does not belong to a type.
fn names(fields: TokenStream) -> Vec<String> {
    let (mut names, mut last, mut is_in_type, mut depth) = (Vec::new(), String::new(), false, 0_i32);
    for token in fields {
        match token {
            TokenTree::Ident(word) if !is_in_type => last = word.to_string(),
            TokenTree::Punct(sign) => match sign.as_char() {
                ':' if !is_in_type => {
                    names.push(std::mem::take(&mut last));
                    is_in_type = true;
                }
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' if depth == 0 => is_in_type = false,
                _ => {}
            },
            _ => {}
        }
    }
    names
}
