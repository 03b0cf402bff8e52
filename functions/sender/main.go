// Function sender posts one signed request to an endpoint: from another region, or from fixed
// addresses. It has no permissions on data, queues and keys, and logs nothing about a request.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "sender", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Settings, _ aws.Config, _ *slog.Logger) (any, error) {
	policy := wire.Policy(cfg)
	h := &handler{remote.Handler{Sender: send.New(egress.NewClient(policy), policy, "", time.Now)}}
	return h.Handle, nil
}
