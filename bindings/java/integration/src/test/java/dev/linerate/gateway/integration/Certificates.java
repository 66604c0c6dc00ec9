package dev.linerate.gateway.integration;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A self-signed certificate for tests, made by the JDK's keytool. */
final class Certificates {
    static final String PASSWORD = "no secret";

    private final Path file;
    private final KeyStore store;

    /** Creates a certificate for names such as {@code dns:localhost}. */
    Certificates(Path folder, String... names) throws Exception {
        file = folder.resolve("certificate-" + names[0].replace(':', '-') + ".p12");
        String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Process process = new ProcessBuilder(
                        keytool, "-genkeypair", "-alias", "test", "-keyalg", "EC", "-dname", "CN=test", "-ext",
                        "san=" + String.join(",", names), "-validity", "2", "-storetype", "PKCS12", "-keystore",
                        file.toString(), "-storepass", PASSWORD)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("keytool makes no certificate");
        }
        store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
    }

    /** The key store, also used as trust store. */
    Path file() {
        return file;
    }

    /** A context for a server with the certificate, and for clients that trust only it. */
    SSLContext context() throws GeneralSecurityException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        try {
            trusted.load(null, null);
        } catch (IOException impossible) {
            throw new GeneralSecurityException(impossible);
        }
        trusted.setCertificateEntry("test", store.getCertificate("test"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }
}
