// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a source of an Arrow stream says of its columns, which the command reads.
#pragma once

namespace mercer::test {

inline constexpr const char* kArrowMetadata =
    R"({"command":"mercer","schema":{"version":1,"inputs":["x","colour","town"],)"
    R"("encodings":[{"input":1,"levels":["blue","green","red","rot, dunkel \"matt\""],)"
    R"("other":false},{"input":2,"levels":["","Dorf","Düsseldorf am Rhein",)"
    R"("a town of more than twelve letters"],"other":false}],"targets":["kind"],)"
    R"("target_columns":[3],"classes":["sour","sweet"],"text_labels":true,"missing":true}})";

}  // namespace mercer::test
