//! The binary `tandem-bench`: parses arguments and measures.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match tandem_bench::run(&tandem_bench::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tandem-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
