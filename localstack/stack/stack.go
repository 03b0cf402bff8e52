// Package stack deploys the real stack to an emulator in the same way as to
// AWS: Go builds the functions, and the CDK command line synthesizes and
// deploys the CDK app; or deploy.sh deploys releases. The package knows the stack's outputs and calls the API.
// The package does not know the stack's behavior.
package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"surehook.example/surehook/localstack/emulator"
)

// Name is the stack's name in the environment "local".
const Name = "surehook-local"

// RolePath is the path of the roles of destinations in AWS.
const RolePath = "/surehook/"

// SenderRegion is another region with a sender.
const SenderRegion = "eu-west-1"

// Stack is the deployed stack.
type Stack struct {
	APIURL                string // from the stack's output
	Address               string // the address for requests to the API: the emulator
	Host                  string // the API's Host header
	Key                   string // the admin key, "shk_..."
	TableName             string
	LiveQueueURL          string
	RetryQueueURL         string
	SlotQueueURL          string
	OverflowQueueURL      string
	CoalesceQueueURL      string
	EventsQueueURL        string
	ReplayJobsQueueURL    string
	DeadLettersURL        string
	UndeliverableURL      string
	UndeliverableRetryURL string
	ScheduleGroup         string
	TopicARN              string
	AWS                   aws.Config // for clients of the emulator's services
}

// Options configures Deploy.
type Options struct {
	Root     string    // the repository's folder
	Env      []string  // the caller's environment, for the Go tool
	Progress io.Writer // gets one line per step, with the duration in seconds
	Context  []string  // settings of the CDK app, such as "portal_name=Acme"
	Releases []string  // folders below Root of releases of the environment local, each deployed over the one before; none for CDK
}

// Deploy builds and deploys the stack and returns its outputs.
func Deploy(ctx context.Context, e *emulator.Emulator, opts Options) (*Stack, error) {
	d, err := newDeployment(ctx, e, opts)
	if err != nil {
		return nil, fmt.Errorf("deploy the stack: %w", err)
	}
	if len(opts.Releases) > 0 {
		err = d.releases(ctx)
	} else {
		err = d.deploy(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("deploy the stack: %w", err)
	}
	s, err := d.stack(ctx)
	if err != nil {
		return nil, fmt.Errorf("deploy the stack: %w", err)
	}
	return s, nil
}

// awsConfig is the configuration of clients of the emulator.
func awsConfig(e *emulator.Emulator) aws.Config {
	return aws.Config{
		Region:       emulator.Region,
		BaseEndpoint: aws.String(e.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
}

// deployment is one run of Deploy.
type deployment struct {
	opts      Options
	emulator  *emulator.Emulator
	os, arch  string // target of the functions' build
	functions []string
	dist      string // folder of the built functions
	work      string // cdk.out
	log       string // output of the tools
}

// newDeployment removes the files of an earlier deployment.
func newDeployment(ctx context.Context, e *emulator.Emulator, opts Options) (*deployment, error) {
	base := filesOf(e)
	if err := os.RemoveAll(base); err != nil {
		return nil, fmt.Errorf("clear %s: %w", base, err)
	}
	if err := os.MkdirAll(base, 0o750); err != nil {
		return nil, fmt.Errorf("make %s: %w", base, err)
	}
	if err := os.WriteFile(base+".log", nil, 0o600); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return openDeployment(ctx, e, opts)
}

func filesOf(e *emulator.Emulator) string { return filepath.Join(e.Dir, "cdk") }

// openDeployment goes on with the files of a deployment.
func openDeployment(ctx context.Context, e *emulator.Emulator, opts Options) (*deployment, error) {
	base := filesOf(e)
	d := &deployment{opts: opts, emulator: e, dist: filepath.Join(base, "functions"), work: base, log: base + ".log"}
	if _, err := os.Stat(d.cdk()); err != nil {
		return nil, fmt.Errorf("%s is %w: run `make local`, which needs Node.js 22 or newer", d.cdk(), emulator.ErrNotInstalled)
	}
	mains, err := filepath.Glob(filepath.Join(opts.Root, "functions", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		return nil, fmt.Errorf("find the functions in %s: there are none", filepath.Join(opts.Root, "functions"))
	}
	for _, path := range mains {
		d.functions = append(d.functions, filepath.Base(filepath.Dir(path)))
	}
	return d, d.target(ctx)
}

// target sets the build target: the machine's architecture, and the operating
// system of the emulator's functions.
func (d *deployment) target(ctx context.Context) error {
	out, err := d.output(ctx, d.opts.Root, "go", "env", "GOHOSTOS", "GOHOSTARCH")
	if err != nil {
		return err
	}
	fields := strings.Fields(out)
	if len(fields) != 2 {
		return fmt.Errorf("ask Go for this machine's kind: the answer is %q", out)
	}
	d.os, d.arch = d.emulator.FunctionOS(fields[0]), fields[1]
	return nil
}

func (d *deployment) cdk() string {
	return filepath.Join(d.opts.Root, "infra", "node_modules", ".bin", "cdk")
}
