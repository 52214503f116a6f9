# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What processes that share rows tell one another in a ridge fit: the library's own code on hundreds of processes that SimGrid's SMPI
simulates on one machine (Debian: libsimgrid-dev), its bytes beside the formula of capi/GUIDE.md, and what both come to on 1,000 nodes.
Network: a switch that does not block, links of 100 Gbit/s, 1 us from node to node; OpenMPI's choice of algorithms, slices sent pair by
pair; the processes' own work takes no simulated time. Of more than 256 processes a few sums are simulated, not a fit."""
import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
BANDWIDTH = 12.5e9  # bytes a second of a link
INPUTS, TARGETS, CHUNK = 20, 1, 65536  # of simulated_processes.c; squares that the library sums at a time
MOST_OF_FITS, PAIRS = 256, 3
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="node" suffix="" radical="0-{last}" speed="1Gf" bw="{bandwidth}Bps" lat="500ns"/>
</platform>
"""


def chunks(D):
    return math.ceil((D * (D + 1) / 2 + D * TARGETS + D + 2 * TARGETS + 2) / CHUNK)


def formula(P, D):
    """Bytes that come to a process, by "Rows of several processes" in capi/GUIDE.md."""
    d, m = INPUTS, TARGETS
    return 8 * (1 - 1 / P) * (D * D + 5 * D + 2 * D * m + 2064 * d + 2068 * m + 34 + 2 * P) + (1992 + 48 * (chunks(D) - 1)) * (P - 1)


def formula_of_pairs(P, D):
    return PAIRS * (48 * (P - 1) + 8 * (1 - 1 / P) * D * (D + 1))


def compiled(library, work):
    include = [f"-I{SOURCE / 'include'}", f"-I{SOURCE / 'capi/mpi'}"]
    (work / "libmercer.so").symlink_to(library)
    subprocess.run(["smpicc", "-O2", *include, "-c", SOURCE / "bench/simulated_processes.c", "-o", work / "fit.o"], check=True)
    subprocess.run(["smpicxx", "-O2", "-std=c++20", *include, SOURCE / "capi/mpi/mpi.cpp", work / "fit.o", "-o", work / "fit",
                    f"-L{work}", "-lmercer", f"-Wl,-rpath,{library.parent}"], check=True)
    return work / "fit"


def simulated(program, P, D, rows):
    """What rank 0 says, and the seconds that the simulation took."""
    work = program.parent
    (work / "platform.xml").write_text(PLATFORM.format(last=P - 1, bandwidth=BANDWIDTH))
    (work / "hosts").write_text("".join(f"node{i}\n" for i in range(P)))
    choice = ["--cfg=smpi/coll-selector:ompi", "--cfg=smpi/alltoallv:pair", "--cfg=smpi/simulate-computation:no", "--log=root.thres:error"]
    pairs = [str(PAIRS)] if P > MOST_OF_FITS else []
    begin = time.time()
    said = subprocess.run(["smpirun", "-np", str(P), "-platform", work / "platform.xml", "-hostfile", work / "hosts", *choice, program, str(D), str(rows),
                           *pairs], cwd=work, check=True, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    return json.loads(said.stdout.splitlines()[-1]), time.time() - begin


def squares_a_second(program, D, rows):
    """D^2 for each row of a fit in one process of one thread, a second."""
    few, many = (min(simulated(program, 1, D, n)[1] for _ in range(3)) for n in (rows, 5 * rows))
    return 4 * rows * D * D / (many - few)


def bytes_a_second(few, many):
    """Where two fits of as many processes take as long for each sum, and the rest for bytes."""
    (n, b, s), (N, B, S) = ((said["sums"], said["mean_bytes"], said["seconds"]) for said in (few, many))
    return (n * B - N * b) / (n * S - N * s)


def project(rate, a_sum, link, sums, nodes, cores, rows, D):
    """The phases of a fit, one process on each node."""
    travel = sums * a_sum + formula(nodes, D) / link
    print(f"{nodes:,} nodes of {cores} cores, {rows:.0e} rows, D = {D:,}: rows {rows * D * D / (rate * nodes * cores):,.0f} s; {sums:,} sums "
          f"{travel:,.2f} s, {formula(nodes, D) / 1e6:,.0f} MB to each; D^3/3 on one core {D**3 / 3 / rate:,.1f} s; Z'Z {8 * D * D / 1e9:.2f} GB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=pathlib.Path, help="libmercer.so")
    parser.add_argument("--processes", default="64,256,512", help="512 take some two minutes, 1,024 over ten")
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--quick", action="store_true", help="four processes and 64 features")
    asked = parser.parse_args()
    if not shutil.which("smpirun"):
        print("SKIPPED: no smpirun (libsimgrid-dev)")
        sys.exit(0)
    processes, D = ([4], 64) if asked.quick else ([int(P) for P in asked.processes.split(",")], asked.features)
    print("| processes | D | sums | bytes to each, mean and most | by the formula | simulated seconds | seconds of the simulation |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        program = compiled(asked.library.resolve(), pathlib.Path(work))

        def run(P, features):
            said, took = simulated(program, P, features, 40)
            print(f"| {P:,} | {features:,} | {said['sums']} | {said['mean_bytes']:,}, {said['most_bytes']:,} | {(formula_of_pairs if P > MOST_OF_FITS else formula)(P, features):,.0f} | "
                  f"{said['seconds']:.4f} | {took:.1f} |", flush=True)
            return said

        few, many = run(processes[0], D), run(processes[0], 4 * D)  # for which more would have no memory
        said = [few, *(run(P, D) for P in processes[1:])][-1]
        rate = squares_a_second(program, *((256, 2000) if asked.quick else (2048, 4000)))
    link = bytes_a_second(few, many)
    a_sum = (said["seconds"] - said["mean_bytes"] / link) / said["sums"]
    print(f"one core: {rate:.2g} rows times D^2 a second; a sum over {processes[-1]:,} {1e3 * a_sum:.2f} ms, bytes {link:.2g} a second")
    for features in (1024, 10000):
        project(rate, a_sum, link, few["sums"] + 2 * (chunks(features) - chunks(D)), 1000, 64, 1e12, features)


if __name__ == "__main__":
    main()
