package dev.linerate.gateway.bench;

import com.fasterxml.jackson.databind.cfg.PackageVersion;
import com.github.luben.zstd.util.ZstdVersion;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Environment of a measurement: machine, versions, command. */
final class Environment {
    private static final String VERSION = "0.1.0";

    private Environment() {}

    /** Today in UTC. */
    static String date() {
        return LocalDate.now(ZoneOffset.UTC).toString();
    }

    /** The processor's name with family and model, since virtual machines use one name for several generations. */
    static String cpu() throws IOException {
        Map<String, String> info = new HashMap<>();
        for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
            String[] pair = line.split(":", 2);
            if (pair.length == 2) {
                info.putIfAbsent(pair[0].strip(), pair[1].strip());
            }
        }
        String name = info.getOrDefault("model name", System.getProperty("os.arch"));
        boolean known = info.containsKey("cpu family") && info.containsKey("model");
        return known ? name + " (family " + info.get("cpu family") + " model " + info.get("model") + ")" : name;
    }

    static String jdk() {
        return System.getProperty("java.vm.vendor") + " " + System.getProperty("java.vm.version");
    }

    /** Options for native access, required from Java 22 on. */
    static String[] options(String... own) {
        List<String> options = new ArrayList<>(List.of(own));
        if (Runtime.version().feature() >= 22) {
            options.add("--enable-native-access=ALL-UNNAMED");
        }
        return options.toArray(new String[0]);
    }

    /** Linerate's version, and the commit where this runs in a git checkout. */
    static String linerate() {
        try {
            Process git = new ProcessBuilder("git", "describe", "--always", "--dirty", "--tags")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor() == 0 ? VERSION + " " + commit : VERSION;
        } catch (IOException e) {
            return VERSION;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return VERSION;
        }
    }

    /** The decoder's version. */
    static String version(Contender contender) {
        switch (contender) {
            case JDA_BULK:
            case JDK_STREAM:
                return "JDK " + System.getProperty("java.version");
            case ZSTD_JNI_STREAM:
            case ZSTD_JNI_CONTEXT:
            case ZSTD_JNI_BULK:
                return "zstd-jni " + ZstdVersion.VERSION;
            case DISCORD_BULK_8K:
            case DISCORD_BULK_128K:
            case DISCORD_STREAM:
                return DiscordZstdJava.version();
            default:
                return linerate();
        }
    }

    static String jackson() {
        return "Jackson " + PackageVersion.VERSION;
    }

    /** The command without machine-specific parts: absolute paths are shortened to the last part, output files omitted. */
    static String command(String program, String[] args) {
        List<String> words = new ArrayList<>(List.of(program));
        for (int k = 0; k < args.length; k++) {
            if (List.of("--csv", "--plots", "--json", "--samples").contains(args[k])) {
                k++;
            } else {
                words.add(args[k].startsWith(File.separator) ? Path.of(args[k]).getFileName().toString() : args[k]);
            }
        }
        return String.join(" ", words);
    }
}
