# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Files, and their bytes.

write_to(map::Map, path, buffer, capacity, needed) = mercer_map_write(map, path, buffer, capacity, needed)
write_to(model::Model, path, buffer, capacity, needed) = mercer_model_write(model, path, buffer, capacity, needed)
write_to(sums::RowsSums, path, buffer, capacity, needed) = mercer_rows_sums_write(sums, path, buffer, capacity, needed)
read_from(::Type{Map}, path, data, size, out) = mercer_map_read(path, data, size, out)
read_from(::Type{Model}, path, data, size, out) = mercer_model_read(path, data, size, out)
read_from(::Type{RowsSums}, path, data, size, out) = mercer_rows_sums_read(path, data, size, out)

save(path::AbstractString, handle::Handle) = check(write_to(handle, path, C_NULL, 0, C_NULL))
load(T, path::AbstractString) = made((_, out) -> read_from(T, path, C_NULL, 0, out), T)

"The bytes of its file, of a kernel its spec."
bytes(handle::Handle) = filled((buffer, capacity, needed) -> write_to(handle, C_NULL, buffer, capacity, needed))
bytes(kernel::Kernel) = Vector{UInt8}(spec(kernel))
load(T, data::Vector{UInt8}) = made((_, out) -> read_from(T, C_NULL, data, length(data), out), T)
load(::Type{Kernel}, data::Vector{UInt8}) = Kernel(String(copy(data)))

"Otherwise Julia copies the address alone, which the first of the two frees."
Base.deepcopy_internal(handle::Handle, seen::IdDict) = get!(() -> load(typeof(handle), bytes(handle)), seen, handle)
Base.deepcopy_internal(::Context, ::IdDict) = throw(ArgumentError("a Context has no copies"))

# Between processes, too: Distributed sends what Serialization writes.
function Serialization.serialize(stream::AbstractSerializer, handle::Handle)
    Serialization.serialize_type(stream, typeof(handle))
    serialize(stream, bytes(handle))
end
Serialization.deserialize(stream::AbstractSerializer, ::Type{Handle{T}}) where {T} = load(Handle{T}, deserialize(stream))
