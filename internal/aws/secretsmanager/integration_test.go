//go:build integration

package secretsmanager_test

import (
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssecretsmanager "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"surehook.example/surehook/internal/aws/secretsmanager"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/porttest"
)

func TestAdminKey_OnEmulators(t *testing.T) {
	t.Parallel()

	for _, emulator := range porttest.Emulators(t, os.Getenv(porttest.EmulatorsVariable)) {
		t.Run(emulator.Name, func(t *testing.T) {
			t.Parallel()

			cfg := aws.Config{
				Region:       "us-east-1",
				Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
				BaseEndpoint: aws.String(emulator.URL),
				HTTPClient:   awshttp.NewBuildableClient(),
			}
			created, err := awssecretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(), &awssecretsmanager.CreateSecretInput{
				Name:         aws.String("admin-key-" + hook.NewNonce()),
				SecretString: aws.String(`{"key":"abc"}`),
			})
			if err != nil {
				t.Fatalf("create secret: %v", err)
			}
			got, err := secretsmanager.New(cfg, *created.ARN, time.Now).AdminKey(t.Context())
			if err != nil || got != "shk_abc" {
				t.Errorf("AdminKey() = %q, %v; want shk_abc", got, err)
			}
		})
	}
}
