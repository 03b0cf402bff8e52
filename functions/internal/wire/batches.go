package wire

import (
	"log/slog"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/internal/lambdafn"
	"surehook/internal/aws/sqs"
)

// Batches returns the response to batches of SQS messages.
func Batches(sdk aws.Config, log *slog.Logger) lambdafn.Batches {
	return lambdafn.Batches{Visibility: sqs.NewVisibility(sdk), Rand: rand.Float64, Log: log}
}
