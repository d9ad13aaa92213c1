#include "coordinator/link/request_writer.h"

namespace redlock::coordinator {

// A LOCK.WAIT has a ticket, and what asks the node of itself is asked seldom.
void RequestWriter::write(const NodeRequest& request, NodeKind node, ScriptForm form,
                          protocol::OutputBuffer& out) {
  const bool is_of_claim =
      request.claim != nullptr && request.words == nullptr && request.kind != RequestKind::wait;
  if (!is_of_claim) return write_node_request(request, node, form, out);
  if (!was_written(request, node, form)) {
    written_ = {request.claim,
                request.kind,
                node,
                form,
                request.ttl,
                request.token,
                request.release,
                request.tops_up,
                request.shortens,
                request.tells_label};
    text_.clear();
    write_node_request(request, node, form, text_);
  }
  out.append(text_.view());
}

bool RequestWriter::was_written(const NodeRequest& request, NodeKind node, ScriptForm form) const {
  return written_.claim == request.claim && written_.kind == request.kind &&
         written_.node == node && written_.form == form && written_.ttl == request.ttl &&
         written_.token == request.token && written_.release == request.release &&
         written_.tops_up == request.tops_up && written_.shortens == request.shortens &&
         written_.tells_label == request.tells_label;
}

}  // namespace redlock::coordinator
