# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Rows of HDF5 beside the same rows of .npy, byte for byte, in every command; what is refused, of damaged and hostile files, too.
# Usage: hdf5_test.sh MERCER FOLDER PYTHON LIBRARY   the libhdf5 that the command loads, "": it is built without
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

printf '\211HDF\r\n\032\n' >empty.h5
if [ -z "$4" ]; then
  refuses 'empty.h5: an HDF5 file, which this command was built without: .*libhdf5-dev' "$MERCER" fit empty.h5 -o result
  refuses 'empty.h5: an HDF5 file, which this command was built without' "$MERCER" fit empty.h5:/x -o result --stream
  finish
  exit 0
fi
refuses 'empty.h5: no readable HDF5 file' "$MERCER" fit empty.h5 -o result
mkdir other && echo none >"other/$4"
refuses "empty.h5: HDF5 files take $4 of libhdf5: .*other/$4" env LD_LIBRARY_PATH="other:$LD_LIBRARY_PATH" "$MERCER" fit empty.h5 -o result
refuses 'standard input: an HDF5 file in a pipe or packed: it is read from a plain file' "$MERCER" fit - -o result <empty.h5
"$3" -c 'import h5py' 2>/dev/null || { [ "$failures" -gt 0 ] && exit 1; echo "skipped the rest: python3-h5py is not there"; exit 77; }

"$3" - <<'END' || complain "files were not made"
import struct
import h5py
import numpy as np

n = 20000  # two blocks
rng = np.random.default_rng(1)
x = rng.normal(size=(n, 6))
y = np.sin(x[:, 0]) + x[:, 1] ** 2 + 0.1 * rng.normal(size=n)
rows = np.column_stack([x, y])
np.save("rows.npy", rows)
np.save("x.npy", x)
np.save("y.npy", y)
np.save("few.npy", x[:400] + 0.1)

def write(name, data, **how):
    version = how.pop("libver", "earliest")
    with h5py.File(name, "w", libver=version) as file:
        file.create_dataset("group/rows", data=data, **how)

write("rows.h5", rows)
write("few.hdf5", x[:400] + 0.1)
with h5py.File("parts.h5", "w") as file:
    file["x"], file["y"], file["words"] = x, y, [b"a", b"b"]
    file["pairs"] = np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])
    file["cube"], file["one"], file["none"] = np.zeros((2, 2, 2)), 1.0, np.zeros((0, 3))
    file["wide"] = np.zeros((3, 2), dtype="g")
    file["gap"] = np.where(np.arange(12).reshape(6, 2) == 5, np.nan, 1)
    file["soft"] = h5py.SoftLink("/x")
    file["loop"] = file["/"]
    file["outside"] = h5py.ExternalLink("rows.h5", "/group/rows")
    file.create_dataset("raw", (10, 2), dtype="f8", external=[("rows.npy", 0, 160)])
    layout = h5py.VirtualLayout(shape=(n, 7), dtype="f8")
    layout[:] = h5py.VirtualSource("rows.h5", "group/rows", shape=(n, 7))
    file.create_virtual_dataset("virtual", layout)
    file.create_dataset("unwritten", (1 << 40, 6), dtype="f8", chunks=(1000, 6))
    file.create_dataset("packed_unwritten", (1 << 40, 6), dtype="f8", chunks=(1000, 6), compression="gzip")
    file.create_dataset("huge", (1 << 62, 1 << 20), dtype="f8", chunks=(1000, 6))
    file.create_dataset("hole", (2000, 6), dtype="f8", chunks=(1000, 6), compression="gzip")[:1000] = 1
    file.create_dataset("chunks", (1 << 24, 6), dtype="f8", chunks=(1 << 24, 6), compression="gzip")
    file.create_dataset("lzf", data=x, compression="lzf")
    # A chunk of 100 numbers from which a million come out, one from which come ten, and one that is no gzip.
    import zlib
    for name, content in ("bomb", bytes(8000000)), ("short", bytes(80)):
        bad = file.create_dataset(name, (100, 1), dtype="f8", chunks=(100, 1), compression="gzip")
        bad.id.write_direct_chunk((0, 0), zlib.compress(content, 9))
    file.create_dataset("broken", (100, 1), dtype="f8", chunks=(100, 1), compression="gzip").id.write_direct_chunk((0, 0), b"?" * 90)
with h5py.File("\x1b[31m.h5", "w") as file:
    file["\x1b[31m"], file["b"] = x[:9], y[:9]

# Ways to store the same rows, and types of numbers.
packed = dict(chunks=(1000, 3), compression="gzip", shuffle=True, fletcher32=True)
write("packed.h5", rows, **packed)
write("packed_late.h5", rows, **packed, libver="latest")
write("grows.h5", rows, chunks=(777, 9), maxshape=(None, None))
write("columns.h5", rows, chunks=(n + 5, 1), maxshape=(None, None), compression="gzip")
write("shuffled.h5", rows, chunks=(13, 4), shuffle=True)
write("summed.h5", rows, chunks=(900, 7), fletcher32=True)
write("part-1.h5", rows[:12000], **packed)
write("part-2.h5", rows[12000:])
np.save("part-1.npy", rows[:12000])
np.save("part-2.npy", rows[12000:])
for kind in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split():
    for order in "<>":
        some = (30 * (rows[:1500] + 9)).astype(order + kind)
        name = ("big" if order == ">" else "little") + "_" + kind
        np.save(name + ".npy", some)
        write(name + ".h5", some)
        write(name + "_packed.h5", some, chunks=(128, 5), compression="gzip", shuffle=True)
np.save("bool.npy", rows[:1500] > 0)
write("bool.h5", rows[:1500] > 0)
write("bool_packed.h5", rows[:1500] > 0, chunks=(100, 7), compression="gzip")
END

# same FILE OTHER WHAT
same() { cmp -s "$1" "$2" || complain "$3 differs"; }

# The same model, predictions and scores.
fast="--fast --features 16"
accepts "$MERCER" fit rows.npy -o npy.model $fast
accepts "$MERCER" fit rows.npy -o npy_stream.model $fast --stream
accepts "$MERCER" score npy.model rows.npy
cp out npy_score
accepts "$MERCER" predict npy.model few.npy -o npy.csv
for file in rows.h5 rows.h5:/group/rows packed.h5 packed_late.h5 grows.h5 columns.h5 shuffled.h5 summed.h5; do
  accepts "$MERCER" fit "$file" -o h5.model $fast --stream
  same h5.model npy_stream.model "the streamed fit of $file"
done
for file in rows.h5 packed.h5:/group/rows; do
  accepts "$MERCER" fit "$file" -o h5.model $fast
  same h5.model npy.model "the fit of $file"
  for how in "" --stream; do
    accepts "$MERCER" score h5.model "$file" $how
    same out npy_score "the score of $file $how"
  done
done
for how in "" --stream; do
  accepts "$MERCER" predict h5.model few.hdf5 -o h5.csv $how
  same h5.csv npy.csv "the prediction $how"
done
accepts "$MERCER" mmd x.npy few.npy
sed 's/x.npy/parts.h5:\/x/; s/few.npy/few.hdf5/' out >npy_mmd
accepts "$MERCER" mmd parts.h5:/x few.hdf5
same out npy_mmd mmd
accepts "$MERCER" fit x.npy --labels y.npy -o npy_labels.model $fast
accepts "$MERCER" fit parts.h5:/x --labels parts.h5:/y -o h5_labels.model $fast
same npy_labels.model h5_labels.model "the fit with labels"
accepts "$MERCER" fit parts.h5:/soft --labels parts.h5:/loop/y -o h5_labels.model $fast
same npy_labels.model h5_labels.model "the fit through links"
accepts "$MERCER" fit 'part-*.npy' -o npy_parts.model $fast --stream
accepts "$MERCER" fit 'part-*.h5:/group/rows' -o h5_parts.model $fast --stream
same npy_parts.model h5_parts.model "the fit of a pattern"
accepts "$MERCER" fit 'part-*.h5' -o h5_parts.model $fast --stream
same npy_parts.model h5_parts.model "the fit of a pattern without a name"

# Every type of numbers.
for file in little_*.npy big_*.npy bool.npy; do
  accepts "$MERCER" transform "$file" -D 4 -o npy_z.npy
  for stored in "${file%.npy}" "${file%.npy}_packed"; do
    accepts "$MERCER" transform "$stored.h5" -D 4 -o h5_z.npy --stream
    same npy_z.npy h5_z.npy "the transform of $stored"
  done
done

# Refusals name the file, the dataset and what is wrong.
fit() { refuses "$1" "$MERCER" fit "$2" -o result; refuses "$1" "$MERCER" fit "$2" -o result --fast --stream; }
fit 'parts.h5: it holds /bomb (100, 1) float64, .* and [0-9]* more, expected one dataset, or a name: parts.h5:/NAME' parts.h5
fit "parts.h5:/z: no dataset in this file (libhdf5: object 'z' doesn't exist); it holds /bomb" parts.h5:/z
fit 'rows.h5:/group: no dataset.*; it holds /group/rows (20000, 7) float64' rows.h5:/group
fit 'absent.h5:/x: No such file' absent.h5:/x
fit 'parts.h5:/words: elements of type string, expected numbers' parts.h5:/words
fit 'parts.h5:/pairs: elements of type compound, expected numbers' parts.h5:/pairs
fit 'parts.h5:/wide: elements of type float128, expected numbers of at most 8 bytes' parts.h5:/wide
fit 'parts.h5:/cube: shape (2, 2, 2), expected (rows, columns)' parts.h5:/cube
fit 'parts.h5:/one: shape (), expected (rows, columns)' parts.h5:/one
fit 'parts.h5:/none: empty array (0, 3)' parts.h5:/none
fit 'parts.h5:/gap: row 3, column 2 is NaN' parts.h5:/gap
fit 'parts.h5:/outside: no dataset in this file' parts.h5:/outside
fit 'parts.h5:/raw: its numbers are in other files, which are not read' parts.h5:/raw
fit 'parts.h5:/virtual: its numbers are in other files, which are not read' parts.h5:/virtual
fit 'parts.h5:/unwritten: rows that were never written' parts.h5:/unwritten
fit 'parts.h5:/packed_unwritten: row 1 is damaged, or was never written' parts.h5:/packed_unwritten
fit 'parts.h5:/huge: impossible size (4611686018427387904, 1048576)' parts.h5:/huge
fit 'parts.h5:/hole: row 1001 is damaged, or was never written' parts.h5:/hole
fit 'parts.h5:/chunks: packed in chunks of (16777216, 6), of which a row crosses more than 128 MiB; h5repack' parts.h5:/chunks
fit "parts.h5:/lzf: packed by 'lzf', expected gzip, shuffle or fletcher32; h5repack" parts.h5:/lzf
for name in bomb short broken; do
  fit "parts.h5:/$name: row 1 is damaged" parts.h5:/$name
done
fit "?.31m.h5: it holds /?.31m (9, 6) float64, /b (9,) float64" "$(printf '\033[31m.h5')"
refuses 'parts.h5:/x: expected one column of labels, found 6' "$MERCER" fit parts.h5:/x --labels parts.h5:/x -o result
head -c 500000 rows.h5 >short.h5
fit 'short.h5: no readable HDF5 file (libhdf5: truncated file' short.h5
gzip -c rows.h5 >rows.h5.gz
refuses 'rows.h5.gz: an HDF5 file in a pipe or packed' "$MERCER" fit rows.h5.gz -o result
refuses 'part-1.h5:/absent: no dataset' "$MERCER" fit 'part-*.h5:/absent' -o result --stream

# Bytes overwritten anywhere: rows or one line that refuses them, never a crash.
"$3" - "$MERCER" <<'END' || complain "damaged files"
import random
import subprocess
import sys
import h5py
import numpy as np

random.seed(1)
for k in range(120):
    with h5py.File("damaged.h5", "w", libver=random.choice(["earliest", "latest"])) as file:
        how = random.choice([{}, {"chunks": (3, 1)}, {"chunks": (3, 1), "compression": "gzip", "shuffle": True}])
        file.create_dataset("rows", data=np.arange(16.0).reshape(8, 2), **how)
    with open("damaged.h5", "rb") as file:
        content = bytearray(file.read())
    for _ in range(random.randint(1, 6)):
        content[random.randrange(len(content))] = random.choice([0, 1, 127, 255, random.randrange(256)])
    with open("damaged.h5", "wb") as file:
        file.write(content)
    run = subprocess.run([sys.argv[1], "transform", "damaged.h5", "-D", "4", "-o", "z.npy"], capture_output=True, text=True)
    if run.returncode not in (0, 3) or run.returncode == 3 and "damaged.h5" not in run.stderr:
        sys.exit(f"case {k}: status {run.returncode}: {run.stderr}")
END
finish
