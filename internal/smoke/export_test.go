package smoke

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"surehook.example/surehook/client/openapi"
)

// Names of the tests for the judges and their observations.
type (
	Throttle = throttle
	Delivery = openapi.DeliveryDetail
	Grants   = grants
	Resource = resource
	Takes    = takes
)

// The judges.
var (
	JudgeAlarms      = judgeAlarms
	JudgeConcurrency = judgeConcurrency
	JudgeThrottles   = judgeThrottles
	JudgeAttempts    = judgeAttempts
	JudgeRetry       = judgeRetry
	JudgeDeadLetter  = judgeDeadLetter
	JudgeOutage      = judgeOutage
	JudgeRate        = judgeRate
	JudgeLatency     = judgeLatency
	JudgeSchedule    = judgeSchedule
	Latencies        = latencies
	Percentile       = percentile
	Simulation       = simulation
	AllowedError     = allowed
	ReceiverPython   = receiverPython
	RunChecks        = run
	Summary          = summary
)

// NewTakes returns what a deployment takes.
func NewTakes(queues, attempts, floors int, sender bool) Takes {
	return takes{queues: queues, attempts: attempts, floors: floors, sender: sender}
}

// Reviewed returns the reviewed grants of a deployment with the outputs and
// resources.
func Reviewed(prefix string, outputs map[string]string, resources map[string]Resource) (map[string]Grants, error) {
	at := arn.ARN{Partition: "aws-cn", Region: "cn-north-1", AccountID: "123456789012"}
	return deployment{stack: at, outputs: outputs, resources: resources}.reviewed(prefix)
}

// Offset returns the difference of the receiver's clock.
func (f *Flows) Offset(ctx context.Context) (ahead, within time.Duration, err error) {
	return f.offset(ctx)
}

// Count counts the tenant's endpoints.
func (f *Flows) Count(t *testing.T) int {
	t.Helper()
	n := 0
	for _, err := range f.API.Endpoints.List(t.Context(), f.Tenant) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
