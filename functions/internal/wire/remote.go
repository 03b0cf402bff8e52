package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/aws/lambda"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/names"
)

// Remote returns the sender of requests from the regions, the fixed addresses and the private network
// of the environment. signer signs them.
func Remote(cfg config.Settings, sdk aws.Config, signer *send.Sender, now func() time.Time) *remote.Sender {
	senders := lambda.New(sdk, lambda.Config{
		Regional: names.Sender(cfg.Environment), Regions: cfg.SenderRegions,
		Fixed: names.FixedSender(cfg.Environment), Private: names.PrivateSender(cfg.Environment),
	})
	return &remote.Sender{Signer: signer, Invoker: senders, Now: now}
}
