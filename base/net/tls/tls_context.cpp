#include "base/net/tls/tls_context.h"

#include "base/invariant.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::net {
namespace {

// A chain of several certificates with RSA keys; OpenSSL would take 100 KB of each peer.
constexpr long kPeerChainBytesMax = 32 * 1024;

// A key is asked for by nobody: OpenSSL would ask whoever sits at the terminal.
int hand_over_pass(char* buffer, int size, int, void* pass) {
  const auto& text = *static_cast<const std::string*>(pass);
  const std::size_t bytes = std::min(text.size(), static_cast<std::size_t>(size));
  std::memcpy(buffer, text.data(), bytes);
  return static_cast<int>(bytes);
}

// OpenSSL would wait at a pipe for whoever writes into it, and at some devices for ever, while
// nobody is served.
Status try_to_read(const std::string& name, const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return Failure{fmt::format("{}: {} cannot be read: {}", name, path, std::strerror(errno))};
  }
  struct stat found {};
  const bool is_known = fstat(descriptor, &found) == 0;
  close(descriptor);
  if (is_known && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return Done{};
  return Failure{fmt::format("{}: {} is a pipe or a device, and no file", name, path)};
}

Failure refused(const std::string& name, const std::string& path, std::string_view what) {
  return Failure{fmt::format("{}: {} {} ({})", name, path, what, openssl_complaint())};
}

bool is_encrypted(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  std::array<char, 4096> text{};
  const std::size_t bytes = file ? std::fread(text.data(), 1, text.size(), file.get()) : 0;
  return std::string_view(text.data(), bytes).find("ENCRYPTED") != std::string_view::npos;
}

Failure key_refused(const TlsFiles& files, const std::string& path) {
  if (!is_encrypted(path)) {
    return refused(files.key_name, path, "holds no key in PEM form that can be read");
  }
  const std::string why =
      files.pass_name.empty()
          ? "is encrypted, and nobody can be asked to open it"
          : fmt::format("is encrypted, and {} does not open it", files.pass_name);
  return refused(files.key_name, path, why);
}

}  // namespace

std::string openssl_complaint() {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(error);
  std::string text = reason != nullptr ? reason : fmt::format("OpenSSL's error {:x}", error);
  ERR_clear_error();
  return text;
}

TlsContext new_tls_context(bool is_server) {
  // At exit OpenSSL would take away what other threads may still use.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  ERR_clear_error();
  TlsContext made(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method()));
  INVARIANT(made != nullptr, "OpenSSL makes no context");
  SSL_CTX* context = made.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_early_data(context, 0);
  SSL_CTX_set_max_cert_list(context, kPeerChainBytesMax);
  return made;
}

Status load_certificate(SSL_CTX* context, const TlsFiles& files) {
  ERR_clear_error();
  if (Status there = try_to_read(files.cert_name, files.cert); !there) return there;
  if (SSL_CTX_use_certificate_chain_file(context, files.cert.c_str()) != 1) {
    return refused(files.cert_name, files.cert,
                   "holds no certificate in PEM form that can be used");
  }
  const std::string& key = files.key.empty() ? files.cert : files.key;
  if (Status there = try_to_read(files.key_name, key); !there) return there;
  SSL_CTX_set_default_passwd_cb(context, hand_over_pass);
  SSL_CTX_set_default_passwd_cb_userdata(context, const_cast<std::string*>(&files.pass));
  const bool has_key = SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  SSL_CTX_set_default_passwd_cb(context, nullptr);
  if (!has_key && ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH) {
    return refused(files.key_name, key, fmt::format("is not the key of {}", files.cert));
  }
  if (!has_key) return key_refused(files, key);
  if (SSL_CTX_check_private_key(context) == 1) return Done{};
  return refused(files.key_name, key, fmt::format("is not the key of {}", files.cert));
}

namespace {

// As `openssl rehash` names a certificate: 4a6481c9.0.
bool is_hash_name(const std::string& name) {
  constexpr std::size_t kDigits = 8;
  return name.size() > kDigits + 1 && name[kDigits] == '.' &&
         std::all_of(name.begin(), name.begin() + kDigits,
                     [](unsigned char digit) { return std::isxdigit(digit) != 0; });
}

// OpenSSL takes anything for a folder, and then finds nobody in it who is trusted.
Status check_folder(const std::string& name, const std::string& path) {
  std::error_code error;
  std::filesystem::directory_iterator entries(path, error);
  if (error) return Failure{fmt::format("{}: {} is no folder that can be read", name, path)};
  for (; !error && entries != end(entries); entries.increment(error)) {
    if (is_hash_name(entries->path().filename().string())) return Done{};
  }
  return Failure{fmt::format(
      "{}: {} holds no certificate under its hash name: run `openssl rehash` on it", name, path)};
}

}  // namespace

Status load_authorities(SSL_CTX* context, const std::string& name, const std::string& path,
                        bool is_folder) {
  ERR_clear_error();
  if (Status there = try_to_read(name, path); !there) return there;
  if (Status usable = is_folder ? check_folder(name, path) : Done{}; !usable) return usable;
  const int loaded = is_folder ? SSL_CTX_load_verify_dir(context, path.c_str())
                               : SSL_CTX_load_verify_file(context, path.c_str());
  if (loaded == 1) return Done{};
  return refused(name, path, "holds no certificates in PEM form that can be used");
}

}  // namespace redlock::net
