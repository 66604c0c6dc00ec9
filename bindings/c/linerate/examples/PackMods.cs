// Packs a folder of mods and prints the progress; a third argument cancels it halfway: mcs PackMods.cs && mono PackMods.exe TARGET FOLDER
using System;
using System.Runtime.InteropServices;
using System.Text;

static class PackMods
{
    [StructLayout(LayoutKind.Sequential)] struct Error { public int Kind, Os; public ulong Offset; public IntPtr Message; }
    [StructLayout(LayoutKind.Sequential)] struct Progress { public ulong Blocks, TotalBlocks, Bytes, TotalBytes, Written; }
    [StructLayout(LayoutKind.Sequential)] struct Report { public ulong Files, Bytes, ArchiveBytes, SharedFiles, LeftOut, Added, Replaced, Unchanged, Removed; }
    [StructLayout(LayoutKind.Sequential)] struct Options
    {
        public int Preset, Level; public uint Threads; public byte Replace, Filters, Metadata, SkipBadNames;
        public IntPtr Choose, OnProgress, OnFailure, Context;
    }
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate int OnProgress(IntPtr context, ref Progress progress);

    const string Library = "liblinerate.so.0.1";
    [DllImport(Library)] static extern Options linerate_pack_defaults();
    [DllImport(Library)] static extern Error linerate_archive_pack(IntPtr[] folders, UIntPtr count, byte[] target, ref Options options, out Report report);

    static int Main(string[] args)
    {
        // Threads of the library call it, one at a time. Returning 0 cancels.
        OnProgress onProgress = (IntPtr context, ref Progress progress) =>
        {
            Console.Error.Write("\r{0} of {1} bytes", progress.Bytes, progress.TotalBytes);
            return args.Length > 2 && progress.Bytes > progress.TotalBytes / 2 ? 0 : 1;
        };
        var options = linerate_pack_defaults(); options.Threads = 2;
        options.OnProgress = Marshal.GetFunctionPointerForDelegate(onProgress);
        var folder = GCHandle.Alloc(Encoding.UTF8.GetBytes(args[1] + "\0"), GCHandleType.Pinned); // Paths are UTF-8 on every system.
        Report report; var folders = new[] { folder.AddrOfPinnedObject() };
        var error = linerate_archive_pack(folders, (UIntPtr)1, Encoding.UTF8.GetBytes(args[0] + "\0"), ref options, out report);
        GC.KeepAlive(onProgress); // The library makes no more calls.
        Console.WriteLine(error.Kind == 0 ? report.Files + " files" : Marshal.PtrToStringAnsi(error.Message));
        return error.Kind;
    }
}
