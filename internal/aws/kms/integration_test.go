//go:build integration

package kms_test

import (
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

func TestVault_OnEmulators(t *testing.T) {
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
			porttest.Vault(t, func(t *testing.T) porttest.SecretVault {
				t.Helper()

				key, err := awskms.NewFromConfig(cfg).CreateKey(t.Context(), &awskms.CreateKeyInput{})
				if err != nil {
					t.Fatalf("create key: %v", err)
				}
				sealer, err := kms.NewSealer(cfg, *key.KeyMetadata.Arn, memory.NewStore())
				if err != nil {
					t.Fatal(err)
				}
				opener, err := kms.NewOpener(cfg, *key.KeyMetadata.Arn, time.Now)
				if err != nil {
					t.Fatal(err)
				}
				return vault{sealer, opener}
			})
		})
	}
}
