// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Where libmercer lies, by pkg-config. Examples and tests of this package find it there again; the programs of other packages,
//! to which cargo passes no such arguments, by the loader: see the README of clients.
use std::process::Command;

fn main() {
    let asked = Command::new("pkg-config").args(["--variable=libdir", "mercer"]).output();
    if let Some(found) = asked.ok().filter(|answer| answer.status.success()) {
        let folder = String::from_utf8_lossy(&found.stdout).trim().replace("\\ ", " ");
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
}
