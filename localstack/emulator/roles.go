package emulator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"surehook.example/surehook/localstack/tools/iam"
)

// roles knows the roles of MiniStack's functions.
type roles struct {
	config aws.Config // of the emulator itself, as the owner of the account

	mu    sync.Mutex
	byKey map[string]*iam.Role
}

func newRoles(port int) *roles {
	return &roles{
		byKey: map[string]*iam.Role{},
		config: aws.Config{
			Region:       Region,
			BaseEndpoint: aws.String("http://127.0.0.1:" + strconv.Itoa(port)),
			Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		},
	}
}

// temporary begins the access keys of sessions of a role.
const temporary = "ASIA"

// sessionKey is the access key that MiniStack gives a function with the role.
func sessionKey(functionARN, roleARN string) string {
	sum := sha256.Sum256([]byte(functionARN + ":" + roleARN))
	return temporary + strings.ToUpper(hex.EncodeToString(sum[:8]))
}

// of returns the role of the function with the access key; nil for another key, such as
// a key of the deployment. A role's policies are complete before its function runs, and
// are read once.
func (r *roles) of(ctx context.Context, key, region string) (*iam.Role, error) {
	if !strings.HasPrefix(key, temporary) {
		return nil, nil //nolint:nilnil // a key without a role
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	if role, known := r.byKey[key]; known {
		return role, nil
	}
	functions, err := r.functions(ctx, region)
	if err != nil {
		return nil, err
	}
	roleARN, found := functions[key]
	if !found {
		r.byKey[key] = nil
		return nil, nil //nolint:nilnil // a key without a function
	}
	role, err := iam.Read(ctx, awsiam.NewFromConfig(r.config), roleARN)
	if err != nil {
		return nil, err
	}
	r.byKey[key] = role
	return role, nil
}

// functions returns the ARNs of the roles of all functions in the region, by the
// functions' access keys.
func (r *roles) functions(ctx context.Context, region string) (map[string]string, error) {
	found := map[string]string{}
	client := lambda.NewFromConfig(r.config, func(o *lambda.Options) { o.Region = region })
	pages := lambda.NewListFunctionsPaginator(client, &lambda.ListFunctionsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the functions in %s: %w", region, err)
		}
		for _, f := range page.Functions {
			found[sessionKey(aws.ToString(f.FunctionArn), aws.ToString(f.Role))] = aws.ToString(f.Role)
		}
	}
	return found, nil
}
