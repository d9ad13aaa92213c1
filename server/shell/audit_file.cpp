#include "server/shell/audit_file.h"

#include <utility>

namespace redlock::server {

Result<std::optional<net::LogFile>> open_audit(const Settings& settings, const net::LogFile& log) {
  if (settings.audit == kNoAudit || settings.audit == kAuditInLog) return {std::nullopt};
  using Form = net::LogFile::Form;
  const Form form = settings.audit_format == AuditFormat::json ? Form::json : Form::text;
  auto file = net::LogFile::open(settings.audit, form);
  if (!file) return file.error();
  file.value().tell_losses_in(log);
  return {std::optional(std::move(file).value())};
}

}  // namespace redlock::server
