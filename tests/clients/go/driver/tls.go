package driver

import (
	"crypto/tls"
	"crypto/x509"
	"os"
)

// TLS is what a client is to be told where nodes speak TLS, and nil where they do not.
func TLS() *tls.Config {
	authority := os.Getenv("CLIENT_TLS_CA")
	if authority == "" {
		return nil
	}
	text, err := os.ReadFile(authority)
	if err != nil {
		panic(err)
	}
	own, err := tls.LoadX509KeyPair(os.Getenv("CLIENT_TLS_CERT"), os.Getenv("CLIENT_TLS_KEY"))
	if err != nil {
		panic(err)
	}
	believed := x509.NewCertPool()
	believed.AppendCertsFromPEM(text)
	return &tls.Config{RootCAs: believed, Certificates: []tls.Certificate{own}}
}
