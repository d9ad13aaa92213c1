// RequestWriter: requests to bytes, for the links of a group. All nodes are asked the same, one
// after the other: what was written last is copied where the next one is to be told just that.
//
// Thread safety: none.
#pragma once

#include "coordinator/link/node_request.h"
#include "protocol/resp/output_buffer.h"

namespace redlock::coordinator {

class RequestWriter {
 public:
  // REQUIRES: can_ask.
  void write(const NodeRequest& request, NodeKind node, ScriptForm form,
             protocol::OutputBuffer& out);

 private:
  // All that the bytes depend on. The claim is kept, so that no other has its address meanwhile.
  struct Written {
    SharedClaim claim = {};
    RequestKind kind = RequestKind::info;
    NodeKind node = NodeKind::redlock_node;
    ScriptForm form = ScriptForm::by_sha;
    Duration ttl = 0ns;
    Token token = 0;
    ReleaseKind release = ReleaseKind::plain;
    bool tops_up = false;
    bool shortens = false;
    bool tells_label = false;
  };

  bool was_written(const NodeRequest& request, NodeKind node, ScriptForm form) const;

  Written written_;  // of text_; without a claim: there is none
  protocol::OutputBuffer text_;
};

}  // namespace redlock::coordinator
