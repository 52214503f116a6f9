# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Errors, and how calls run: threads, memory, progress, cancellation.

"A call that failed: the name of its status, function, argument, value and expectation in words, and the same as a JSON object."
struct MercerError <: Exception
    status::String
    text::String
    fields::String
end
MercerError(status, text) = MercerError(status, text, "{}")
Base.showerror(io::IO, error::MercerError) = print(io, error.status, ": ", error.text)

"""
What C calls back goes through this: nothing may unwind through C, so that an exception is kept, ends the call and is thrown after it.
Whether there was one.
"""
function kept(work, context)
    current_task().sticky = true  # C's frames below stay on their thread, so must the task, wherever `work` waits
    try
        context.raised === nothing && work()
    catch raised
        context.raised = raised
    end
    context.raised !== nothing
end

# Callbacks stand above the @cfunction that looks them up.
function watch(user, done, total)::Int32
    context = unsafe_pointer_to_objref(user)::Context
    stopped = Ref(false)
    raised = kept(context) do
        context.progress === nothing || (stopped[] = context.progress(done, total) === false)
    end
    raised || stopped[]
end

function tell(user, json)::Cvoid
    context = unsafe_pointer_to_objref(user)::Context
    kept(context) do
        context.trial(unsafe_string(json))
    end
    nothing
end

"""
    Context(; threads = 0, memory_cap = 0, progress = nothing, trial = nothing)

Limits of the calls that are given it, one at a time. threads 0: all cores; memory_cap in bytes, 0: none. progress(done, total) is
called now and then; `false` ends the call. trial(json) is called with each finished trial of a search, an object as in "trials" of the
report. An exception of either ends the call, which then throws it. Julia notices Ctrl-C where its own code runs, such as progress: a call
without callbacks ends first. A task that was called back stays on its thread from then on.
"""
mutable struct Context
    pointer::Ptr{mercer_context}
    progress::Any
    trial::Any
    raised::Any
    busy::Threads.Atomic{Bool}
    function Context(; threads = 0, memory_cap = 0, progress = nothing, trial = nothing)
        context = new(C_NULL, progress, trial, nothing, Threads.Atomic{Bool}(false))
        watched = progress !== nothing || trial !== nothing  # an exception of trial ends the call by watch
        options = mercer_context_options(; threads, memory_cap, user = pointer_from_objref(context),
                                         progress = watched ? @cfunction(watch, Int32, (Ptr{Cvoid}, Int64, Int64)) : C_NULL,
                                         trial = trial === nothing ? C_NULL : @cfunction(tell, Cvoid, (Ptr{Cvoid}, Cstring)))
        out = Ref{Ptr{mercer_context}}(C_NULL)
        check(mercer_context_create(Ref(options), out))
        context.pointer = out[]
        finalizer(mercer_context_free, context)
    end
end
Base.unsafe_convert(::Type{Ptr{mercer_context}}, context::Context) = context.pointer

"Ends the running call soon, or the next one, from any thread."
cancel(context::Context) = check(mercer_context_cancel(context, 1))

"A failure as an exception. A callback may move its task to another thread, so that the text is asked of the context."
function check(status, context = C_NULL)
    status == MERCER_OK && return nothing
    said(what) = text((buffer, capacity, needed) -> mercer_context_error(context, what, buffer, capacity, needed))
    throw(MercerError(unsafe_string(mercer_status_name(status)), said("text"), said("fields")))
end

"Calls with the context's handle, or none."
function run(call, context)
    context === nothing && return check(call(C_NULL))
    # Refused before anything of the running call is touched.
    Threads.atomic_cas!(context.busy, false, true) &&
        throw(MercerError("MERCER_INVALID_ARGUMENT", "Mercer.Context: context is used by another call, expected one call at a time"))
    try
        context.raised = nothing
        status = call(context)
        context.raised === nothing || throw(context.raised)
        check(status, context)
    finally
        context.busy[] = false
    end
end

"The bytes that a call writes into a buffer of the size it asks for."
function filled(call)
    needed = Ref(Int64(0))
    check(call(C_NULL, 0, needed))
    bytes = zeros(UInt8, needed[])
    check(call(bytes, length(bytes), needed))
    bytes
end

text(call) = String(filled(call)[1:end-1])

"The text of a call that is too long to ask first for its size; it lists four numbers of each of so many rows at most."
function answered(call, rows, context)
    buffer, needed = Vector{UInt8}(undef, 2^20 + 128 * rows), Ref(Int64(0))
    run(running -> call(running, buffer, length(buffer), needed), context)
    String(buffer[1:needed[]-1])
end
